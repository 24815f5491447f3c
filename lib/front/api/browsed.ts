import { NoRoot } from "../../snapshot/format.ts";
import { rootNamedIn } from "../../snapshot/head/root-named.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { shown } from "../excess.ts";
import type { Heads } from "../heads/heads.ts";
import type { NodeWatch } from "../nodes/node-watch.ts";
import { type Answered, type Asked, found, refused } from "./asked.ts";
import { nothingYet } from "./nothing-yet.ts";

/** What the API reads from. */
export interface Browser {
  readonly heads: Heads;
  /** Apart from the front's own, so that whoever looks around pushes nothing out that nodes are about to be served. */
  readonly reader: SnapshotReader;
  /** What is known of nodes, which may be served another version than everybody. */
  readonly nodes: Pick<NodeWatch, "report">;
}

export const nothingPublished = refused(503, nothingYet);

/** How far back a version may be named by its generation, or by its first digits. */
const maxEntries = 1_000;

/**
 * The version that a request names.
 *
 * @param parameter of the query
 * @param usual where it says none
 */
export async function browsed(
  { heads, reader }: Browser,
  { value }: Asked,
  parameter = "root",
  usual = "SERVED",
): Promise<Answered<LoadedRoot>> {
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  const name = value(parameter) || usual;
  const named = await rootNamedIn(reader, head, heads.timeMs(), name, maxEntries);
  if (named.kind === "absent") return refused(404, shown(named.reason));
  if ((await reader.textIfWhole(named.root)) === undefined)
    return refused(404, `the store has no version ${named.root.slice(0, 12)} any more; see \`portolan history\``);
  try {
    return { kind: "found", value: await reader.root(named.root) };
  } catch (cause) {
    if (!(cause instanceof NoRoot)) throw cause;
    return refused(404, `${named.root.slice(0, 12)} is no version; see \`portolan history\``);
  }
}

/** Two versions to be compared. */
export interface BothVersions {
  readonly before: LoadedRoot;
  readonly after: LoadedRoot;
}

/** The versions that a request names as `before` and `after`; where it names none, the one before the newest, and what is served. */
export async function bothBrowsed(browser: Browser, asked: Asked): Promise<Answered<BothVersions>> {
  const before = await browsed(browser, asked, "before", "HEAD~1");
  if (before.kind === "refused") return before;
  const after = await browsed(browser, asked, "after");
  return after.kind === "refused" ? after : found({ before: before.value, after: after.value });
}
