import { PortolanError } from "../base/diagnostic.ts";
import { type Authority, rootsOf, type Signer } from "./authority.ts";

/** How a step of a rotation is judged. */
export interface RotationStep {
  readonly nowMs: number;
  /** Longest validity of a certificate that was issued: after that every workload has asked again. */
  readonly longestMs: number;
  /** Takes the step although workloads may lack the roots that it needs. */
  readonly force?: boolean | undefined;
}

/** Servers look at the store every few seconds, and clocks differ. */
const marginMs = 5 * 60_000;

/** Adds a signer whose roots are given to workloads from now on, and which signs nothing yet. */
export function addNext(authority: Authority, next: Signer): Authority {
  if (authority.next !== undefined)
    throw new PortolanError(
      "there is a next CA already: `portolan ca activate` lets it sign, `portolan ca drop-next` removes it",
    );
  return { ...authority, next };
}

/** Removes a signer that has signed nothing. */
export function dropNext({ next, ...authority }: Authority): Authority {
  if (next === undefined) throw new PortolanError("there is no next CA to remove");
  return authority;
}

/**
 * Lets the next signer sign. Workloads have its roots by then: every certificate that was issued before they were given out is over.
 *
 * @throws PortolanError with the time from which it is safe
 */
export function activateNext(authority: Authority, { nowMs, longestMs, force }: RotationStep): Authority {
  const { trustDomain, active, next, previous } = authority;
  if (next === undefined)
    throw new PortolanError("there is no next CA: `portolan ca init --next` or `portolan ca import --next` adds one");
  if (previous !== undefined)
    throw new PortolanError("the CA before the last rotation is still trusted: run `portolan ca retire` first");
  const known = new Set(rootsOf({ version: 1, trustDomain, active }));
  const brings = rootsOf({ version: 1, trustDomain, active: next }).some((root) => !known.has(root));
  // An intermediate below a root that all workloads have may sign at once.
  if (brings)
    waitUntil(next.trustedSinceMs + longestMs + marginMs, "some workloads do not trust the next CA yet", nowMs, force);
  const { certificate, roots } = active;
  return { version: 1, trustDomain, active: next, previous: { certificate, roots, replacedMs: nowMs } };
}

/**
 * Ends the trust in the signer of before. Every certificate that it signed is over by then.
 *
 * @throws PortolanError with the time from which it is safe
 */
export function retirePrevious(
  { previous, ...authority }: Authority,
  { nowMs, longestMs, force }: RotationStep,
): Authority {
  if (previous === undefined)
    throw new PortolanError("nothing to retire: no CA was replaced; `portolan ca show` lists the trusted ones");
  waitUntil(
    previous.replacedMs + longestMs + marginMs,
    "some certificates of the CA of before are still valid",
    nowMs,
    force,
  );
  return authority;
}

function waitUntil(safeMs: number, why: string, nowMs: number, force = false): void {
  if (force || nowMs >= safeMs) return;
  throw new PortolanError(`${why}; wait until ${new Date(safeMs).toISOString()}, or use --force and break them`);
}
