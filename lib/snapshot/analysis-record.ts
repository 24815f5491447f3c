/** Messages of the analysers about the world of a root: they are found after the publish, so they lie beside the root. */
import { type Diagnostic, fileOrigin } from "../config/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { utf8Length } from "./utf8-length.ts";

export const analysisFolder = "analysis/";

/** @param root hash */
const analysisKey = (root: string): string => `${analysisFolder}${root}`;

/** Messages that one record has at most; one more counts those that are left out. */
const maxMessages = 1_000;

const maxRecordBytes = 1024 * 1024;

/**
 * @returns undefined where the root was not analysed, and for an object that is no such record
 * @throws PortolanError when the store fails
 */
export async function readAnalysis(
  store: Pick<ObjectStore, "get">,
  root: string,
): Promise<readonly Diagnostic[] | undefined> {
  const found = await store.get(analysisKey(root));
  if (found.kind !== "found" || found.bytes.length > maxRecordBytes) return undefined;
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(found.bytes));
    return Array.isArray(read) && read.every(isMessage) ? read : undefined;
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
  await store.put(analysisKey(root), new TextEncoder().encode(JSON.stringify(bounded(messages))));
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
