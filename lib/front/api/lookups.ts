import type { Front } from "../front.ts";
import { type Answered, type Asked, found, pageOf } from "./asked.ts";
import type { Lookups } from "./schema/lookups.ts";

const order = ["missing", "stale", "fresh"];

/** What was looked up, what fails first. */
export async function answerLookups(front: Pick<Front, "lookups">, asked: Asked): Promise<Answered<Lookups>> {
  const all = await front.lookups?.();
  if (all === undefined) return found({ isRead: false, total: 0, lookups: [] });
  const { offset, limit } = pageOf(asked);
  const sorted = all.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return found({ isRead: true, total: all.length, lookups: sorted.slice(offset, offset + limit) });
}
