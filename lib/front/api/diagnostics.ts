import { type Diagnostic, keyText } from "../../base/diagnostic.ts";
import { pathText } from "../../base/path-text.ts";
import type { AnalysisRecord } from "../../snapshot/analysis-record.ts";
import { type Served, servedInstead } from "../../snapshot/nodes/refusals.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { createLoadCache } from "../../snapshot/worlds/load-cache.ts";
import type { Front } from "../front.ts";
import { type Answered, type Asked, found, matcher, pageOf } from "./asked.ts";
import { type Browser, browsed } from "./browsed.ts";
import type { Diagnostics, Overview } from "./schema/answers.ts";

/** Messages of a version, by its root and the blob of what its compile reported. */
export type DiagnosticLists = (root: string, blob: string) => Promise<DiagnosticList>;

export interface DiagnosticList {
  /** Those of the compile, then those of the analysers. */
  readonly messages: readonly Diagnostic[];
  readonly isAnalyzed: boolean;
  /** Why not, where what compiled has said so. */
  readonly notAnalyzed?: string;
}

export function createDiagnosticLists(
  reader: SnapshotReader,
  maxBytes: number,
  analysisOf: Front["analysis"],
): DiagnosticLists {
  const stored = createLoadCache<string, readonly Diagnostic[]>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await reader.text(hash)),
    sizeOf: (list) => list.reduce((sum, { message, hint }) => sum + 600 + 2 * (message.length + hint.length), 100),
  });
  // Written after the root, so that one which is absent, or was not analysed so far, is asked for again.
  let last: { readonly root: string; readonly record: AnalysisRecord } | undefined;
  return async (root, blob) => {
    const [compiled, record] = await Promise.all([
      stored.get(blob),
      last?.root === root ? last.record : analysisOf(root),
    ]);
    if (record?.kind !== "analyzed")
      return { messages: compiled, isAnalyzed: false, ...(record === undefined ? {} : { notAnalyzed: record.why }) };
    last = { root, record };
    return { messages: [...compiled, ...record.messages], isAnalyzed: true };
  };
}

/** How many there are of each severity. */
export function countedDiagnostics(list: readonly Diagnostic[]): Overview["diagnostics"] {
  const count = (wanted: Diagnostic["severity"]) => list.filter(({ severity }) => severity === wanted).length;
  const coded = (wanted: Diagnostic["code"]) => list.filter(({ code }) => code === wanted).length;
  return {
    errors: count("error"),
    warnings: count("warning"),
    infos: count("info"),
    closed: coded("security-closed"),
    open: coded("security-open"),
  };
}

/** Diagnostics of a version's objects, in its order. */
export async function answerDiagnostics(
  browser: Browser,
  lists: DiagnosticLists,
  asked: Asked,
): Promise<Answered<Diagnostics>> {
  const version = await browsed(browser, asked);
  if (version.kind === "refused") return version;
  const { hash, root } = version.value;
  const severity = asked.value("severity") || undefined;
  const isMeant = matcher(asked.value("q"));
  const { messages: list } = await lists(hash, root.diagnostics);
  const all = list.filter(
    (one) =>
      (severity === undefined || one.severity === severity) &&
      (isMeant(one.message) || isMeant(one.code) || isMeant(objectOf(one)) || isMeant(one.origin.file)),
  );
  const { offset, limit } = pageOf(asked);
  const served = servedInstead(list);
  const page = all.slice(offset, offset + limit).map((one) => diagnosticAnswer(one, served(one)));
  return found({ root: hash, total: all.length, diagnostics: page });
}

const objectOf = ({ origin: { key } }: Diagnostic): string => (key.kind === "" ? "" : keyText(key));

function diagnosticAnswer(one: Diagnostic, served: Served | undefined): Diagnostics["diagnostics"][number] {
  const { code, severity, origin, message, hint, path } = one;
  return {
    code,
    severity,
    object: objectOf(one),
    file: origin.file,
    line: origin.line,
    path: pathText(path),
    message,
    hint,
    ...(served === undefined ? {} : { instead: served.instead }),
  };
}
