import { type HistoryEntry, readHistory } from "../../snapshot/head/history.ts";
import { type Answered, type Asked, found, pageOf, refused } from "./asked.ts";
import { type Browser, nothingPublished } from "./browsed.ts";
import { entryOf } from "./overview.ts";
import type { History } from "./schema/answers.ts";

/** What was published, newest first, from the newest or from a given entry on. */
export async function answerHistory({ heads, reader }: Browser, asked: Asked): Promise<Answered<History>> {
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  const from = asked.value("before") ?? head.publication;
  if (!/^[0-9a-f]{64}$/.test(from)) return refused(400, "before is the `next` of an earlier answer");
  const { limit } = pageOf(asked);
  const entries: HistoryEntry[] = [];
  for await (const entry of readHistory(reader, from)) {
    // Any blob of the store could have been named.
    if (typeof entry.generation !== "number") return refused(400, "before is the `next` of an earlier answer");
    if (entries.length === limit) return found({ entries: entries.map(entryOf), next: entry.hash });
    entries.push(entry);
  }
  return found({ entries: entries.map(entryOf) });
}
