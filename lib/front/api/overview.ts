import { statusOf } from "../../snapshot/head/head-status.ts";
import type { HistoryEntry } from "../../snapshot/head/history.ts";
import type { Step } from "../../snapshot/root.ts";
import { type Answered, found } from "./asked.ts";
import { type Browser, nothingPublished } from "./browsed.ts";
import { countedDiagnostics, type DiagnosticLists } from "./diagnostics.ts";
import type { Overview, PublicationEntry } from "./schema/answers.ts";

const maxHeld = 20;

/** How far back to look for what led to the version in force. */
const maxEntries = 200;

/** What is served, what follows, what holds it, and how well. */
export async function answerOverview(
  browser: Browser,
  lists: DiagnosticLists,
  here: Pick<Overview, "moves" | "isTracing">,
): Promise<Answered<Overview>> {
  const { heads, reader } = browser;
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  const { since, pin, expired, canary, held, ...status } = await statusOf(reader, head, heads.timeMs(), maxEntries);
  const { root, classes } = await reader.root(status.served);
  const { warnings, headAgeMs } = await heads.health();
  return found({
    ...status,
    steps: status.steps.map(stepOf),
    ...(since === undefined ? {} : { since: entryOf(since) }),
    ...(pin === undefined ? {} : { pin }),
    ...(expired === undefined ? {} : { expired }),
    ...(canary === undefined ? {} : { canary }),
    held: held.slice(0, maxHeld).map(entryOf),
    compiler: root.compiler,
    sources: root.sources,
    classes: classes.size,
    diagnostics: countedDiagnostics(await lists.get(root.diagnostics)),
    warnings,
    ...(headAgeMs === undefined ? {} : { headAgeMs }),
    ...here,
  });
}

const stepOf = ({ root, at }: Step): Step => ({ root, at });

/** An entry of the history as the API tells it. */
export function entryOf({ parent: _parent, changed: _changed, ...entry }: HistoryEntry): PublicationEntry {
  return entry;
}
