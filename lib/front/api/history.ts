import { type HistoryEntry, readChanges, readHistory } from "../../snapshot/head/history/history.ts";
import { type Answered, type Asked, found, pageOf, refused } from "./asked.ts";
import { type Browser, nothingPublished } from "./browsed.ts";
import { entryOf } from "./overview.ts";
import type { History } from "./schema/answers.ts";

/** What was published, newest first, from the newest or from a given entry on. */
export async function answerHistory({ heads, reader }: Browser, asked: Asked): Promise<Answered<History>> {
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  const before = asked.value("before");
  const from = before === undefined ? head : { publication: before };
  if (before !== undefined && !/^[0-9a-f]{64}$/.test(before))
    return refused(400, "before is the `next` of an earlier answer");
  const { limit } = pageOf(asked);
  const entries: HistoryEntry[] = [];
  const isOfChanges = asked.value("changes") === "true";
  for await (const entry of isOfChanges ? readChanges(reader, from) : readHistory(reader, from.publication)) {
    // Any blob of the store could have been named.
    if (typeof entry.generation !== "number") return refused(400, "before is the `next` of an earlier answer");
    if (entries.length === limit) return found({ entries: entries.map(entryOf), next: entry.hash });
    entries.push(entry);
  }
  return found({ entries: entries.map(entryOf) });
}
