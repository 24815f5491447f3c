import { type Diagnostic, keyText } from "../../config/diagnostic.ts";
import { type Served, servedInstead } from "../../snapshot/refusals.ts";
import type { SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { createLoadCache, type LoadCache } from "../../snapshot/worlds/load-cache.ts";
import { type Answered, type Asked, found, matcher, pageOf } from "./asked.ts";
import { type Browser, browsed } from "./browsed.ts";
import type { Diagnostics, Overview } from "./schema/answers.ts";

/** Lists of diagnostics by their blob. */
export type DiagnosticLists = LoadCache<string, readonly Diagnostic[]>;

export const createDiagnosticLists = (reader: SnapshotReader, maxBytes: number): DiagnosticLists =>
  createLoadCache<string, readonly Diagnostic[]>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await reader.text(hash)),
    sizeOf: (list) => list.reduce((sum, { message, hint }) => sum + 600 + 2 * (message.length + hint.length), 100),
  });

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

/** What the compiler said of a version's objects, in its order. */
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
  const list = await lists.get(root.diagnostics);
  const all = list.filter(
    (one) =>
      (severity === undefined || one.severity === severity) &&
      (isMeant(one.message) || isMeant(one.code) || isMeant(objectOf(one)) || isMeant(one.origin.file)),
  );
  const { offset, limit } = pageOf(asked);
  const served = servedInstead(list);
  const page = all.slice(offset, offset + limit).map((one) => told(one, served(one)));
  return found({ root: hash, total: all.length, diagnostics: page });
}

const objectOf = ({ origin: { key } }: Diagnostic): string => (key.kind === "" ? "" : keyText(key));

function told(one: Diagnostic, served: Served | undefined): Diagnostics["diagnostics"][number] {
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

/** `spec.http[0].route`. */
const pathText = (path: Diagnostic["path"]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
