/** Messages of the analysers about the world of a root: they are found after the publish, so they lie beside the root. */
import { type Diagnostic, fileOrigin } from "../base/diagnostic.ts";
import { utf8Length } from "../base/utf8-length.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { cutText } from "./free-text.ts";

export const analysisFolder = "analysis/";

/** @param root hash */
const analysisKey = (root: string): string => `${analysisFolder}${root}`;

export type AnalysisRecord =
  | { readonly kind: "analyzed"; readonly messages: readonly Diagnostic[] }
  /** The analysers have not run. `why` says what stood in the way, as the rest of a sentence. */
  | { readonly kind: "not-analyzed"; readonly why: string };

/** Messages that one record has at most; one more counts those that are left out. */
const maxMessages = 1_000;

const maxRecordBytes = 1024 * 1024;
const maxReasonBytes = 2_048;

/**
 * @returns undefined where nothing is recorded of the root, and for an object that is no such record
 * @throws PortolanError when the store fails
 */
export async function readAnalysis(store: Pick<ObjectStore, "get">, root: string): Promise<AnalysisRecord | undefined> {
  const found = await store.get(analysisKey(root));
  if (found.kind !== "found" || found.bytes.length > maxRecordBytes) return undefined;
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(found.bytes));
    if (Array.isArray(read)) return read.every(isMessage) ? { kind: "analyzed", messages: read } : undefined;
    const { notAnalyzed: why }: { readonly notAnalyzed?: unknown } = Object(read);
    return typeof why === "string" ? { kind: "not-analyzed", why } : undefined;
  } catch {
    return undefined;
  }
}

/** @param messages the most severe first: of more than the bounds the last are left out */
export async function writeAnalysis(
  store: Pick<ObjectStore, "put">,
  root: string,
  messages: readonly Diagnostic[],
): Promise<void> {
  await putRecord(store, root, bounded(messages));
}

/** Records why the analysers have not run. @param why as the rest of a sentence */
export const writeNotAnalyzed = (store: Pick<ObjectStore, "put">, root: string, why: string): Promise<void> =>
  putRecord(store, root, { notAnalyzed: cutText(why, maxReasonBytes) });

async function putRecord(store: Pick<ObjectStore, "put">, root: string, record: object): Promise<void> {
  await store.put(analysisKey(root), new TextEncoder().encode(JSON.stringify(record)));
}

/** Less than a record may have, for the brackets and the message that counts the rest. */
const maxMessageBytes = maxRecordBytes - 1024;

function bounded(messages: readonly Diagnostic[]): readonly Diagnostic[] {
  let bytes = 0;
  const fits = messages.findIndex((message, at) => {
    bytes += utf8Length(JSON.stringify(message)) + 1;
    return at === maxMessages || bytes > maxMessageBytes;
  });
  if (fits === -1) return messages;
  const left: Diagnostic = {
    code: "more-findings",
    severity: messages[fits]?.severity ?? "info",
    origin: fileOrigin(""),
    path: [],
    message: `the analysers gave ${messages.length - fits} more messages, which are not recorded`,
    hint: "`portolan analyze` prints all of them",
  };
  return [...messages.slice(0, fits), left];
}

function isMessage(read: unknown): read is Diagnostic {
  const { code, severity, origin, path, message, hint }: Partial<Record<keyof Diagnostic, unknown>> = Object(read);
  const { key, file, line }: Partial<Record<keyof Diagnostic["origin"], unknown>> = Object(origin);
  const { kind, namespace, name }: Partial<Record<keyof Diagnostic["origin"]["key"], unknown>> = Object(key);
  return (
    [code, message, hint, file, kind, namespace, name].every((text) => typeof text === "string") &&
    (severity === "error" || severity === "warning" || severity === "info") &&
    Number.isSafeInteger(line) &&
    Array.isArray(path) &&
    path.every((part) => typeof part === "string" || typeof part === "number")
  );
}
