import { causeText } from "../base/cause-text.ts";
import type { Log } from "../compile/telemetry/log.ts";
import type { LeasedCompiler } from "../compile/triggers/leased-compiler.ts";
import { type LookupKind, lookupKind, lookupText } from "./lookup-name.ts";
import type { Resolution, Resolver } from "./resolver.ts";

/**
 * A compiler that has looked up what its configuration wants to know before it answers, and compiles once more where that has changed. A
 * look-up that fails costs the compile nothing.
 */
export const resolvingCompiler =
  (recompile: LeasedCompiler, resolve: Resolver, log: Log): LeasedCompiler =>
  async (publishing, askedMs) => {
    const told = await recompile(publishing, askedMs);
    const resolution = await resolve().catch((cause: unknown) => {
      log.error({ reason: causeText(cause) }, "nothing could be looked up");
      return undefined;
    });
    if (resolution === undefined) return told;
    logResolution(log, resolution);
    if (!resolution.hasChanged) return told;
    const again = await recompile({ by: "resolver", why: whyOf(resolution) });
    // A canary is what was asked for.
    return publishing?.share === undefined ? again : told;
  };

/** What the history says of such a compile. */
export function whyOf({ tried }: Resolution): string {
  const names = [...tried].flatMap(([name, { failures }]) => (failures === 0 ? lookupText(name) : []));
  const [first, ...others] = names;
  if (first === undefined) return "addresses for hosts of ServiceEntries";
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

const troubleTexts: Readonly<Record<LookupKind, { readonly failed: string; readonly partial: string }>> = {
  jwks: { failed: "a key set could not be read", partial: "a key set was not read in full" },
  host: { failed: "DNS could not be asked for a host", partial: "DNS was asked for a host, and answered in part" },
  module: { failed: "a module could not be fetched", partial: "a module was not fetched in full" },
};

/** One line for each look-up that failed, or of which something could not be used. */
export function logResolution(log: Log, { tried, beyond }: Resolution): void {
  for (const [name, { problem, failures, fetchedMs }] of tried) {
    if (problem === undefined) continue;
    const since = fetchedMs === undefined ? {} : { foundAt: new Date(fetchedMs).toISOString() };
    const { failed, partial } = troubleTexts[lookupKind(name)];
    if (failures > 0) log.warn({ of: name, reason: problem, failures, ...since }, failed);
    else log.warn({ of: name, reason: problem }, partial);
  }
  if (beyond > 0) log.error({ beyond }, "too many look-ups are wanted; these are not made");
}
