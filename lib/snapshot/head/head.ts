/** HEAD, read: what it serves to whom at a time, and where it leads. */

import { headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { headFormat, NewerFormat, refuseNewer } from "../format.ts";
import type { Cohort, Head, Pin, RolloutStage } from "../root.ts";
import { needSigned, type Trust } from "./signatures.ts";

/** HEAD as read, with the tag that a compare-and-swap names. */
export interface ReadHead {
  readonly head: Head;
  readonly etag: string;
  /** When it was written, by the store's clock, where the store says. */
  readonly modifiedMs?: number | undefined;
}

/**
 * The store's HEAD; undefined when nothing was ever published.
 *
 * @throws PortolanError when keys are trusted, and none of them has signed it; who signs trusts the own key if no other
 */
export async function readHead(store: ObjectStore, { signer, trusted }: Trust = {}): Promise<ReadHead | undefined> {
  const result = await store.get(headKey);
  if (result.kind !== "found") return undefined;
  const { bytes, etag, modifiedMs } = result;
  return { head: await needSigned(trusted ?? (signer && [signer]), parseHead(bytes)), etag, modifiedMs };
}

/**
 * @throws PortolanError when the bytes are no HEAD: it is the one object that a hand could have edited;
 * NewerFormat for one that this version does not read
 */
export function parseHead(bytes: Uint8Array): Head {
  try {
    const head: Head = JSON.parse(new TextDecoder().decode(bytes));
    refuseNewer("HEAD", {
      format: head.format ?? headFormat,
      known: headFormat,
      author: "a newer version of Portolan",
    });
    const steps = [head.steps, ...(head.cohorts ?? []).map((cohort) => cohort.steps)];
    if (steps.every((list) => list.length > 0 && list.every(isStep))) return head;
  } catch (cause) {
    if (cause instanceof NewerFormat) throw cause;
    throw new PortolanError(`HEAD cannot be read; ${wayOut}`, [], cause);
  }
  throw new PortolanError(`HEAD cannot be read: a step has no root or no time; ${wayOut}`);
}

const wayOut = "`portolan recover` rebuilds it";

const isStep = ({ root, at }: RolloutStage) => typeof root === "string" && root !== "" && !Number.isNaN(Date.parse(at));

/** What nodes are served in time: HEAD's own steps, or a cohort's. */
export type Rollout = Pick<Head, "steps">;

/** The root in force at a time: that of the last whose time has come, or the first. */
export function rootAt({ steps }: Rollout, nowMs: number): string {
  const due = steps.findLast((step) => Date.parse(step.at) <= nowMs) ?? steps[0];
  if (due === undefined) throw new PortolanError("HEAD has no step");
  return due.root;
}

/** The step in force and those that are still to come. */
export function stagesFrom(steps: readonly RolloutStage[], nowMs: number): readonly RolloutStage[] {
  const served = steps.findLastIndex(({ at }) => Date.parse(at) <= nowMs);
  return steps.slice(Math.max(served, 0));
}

/** The root that steps lead to. */
export const lastRoot = (steps: readonly RolloutStage[]): string => steps.at(-1)?.root ?? "";

/** The root of the newest publish: what would be served if nothing held it. */
export const newestRoot = (head: Head): string => head.newest ?? lastRoot(head.steps);

/** The configuration that everybody is led to, named as in `ConfigurationChange`. */
export const servedConfiguration = ({ change, steps }: Head): string => change?.served ?? lastRoot(steps);

/** That of the newest publish. */
export const newestConfiguration = (head: Head): string => head.change?.newest ?? newestRoot(head);

/** The pin that holds at a time. While a canary runs its end decides what everybody gets, and no pin is over. */
export function pinAt({ pin, canary }: Head, nowMs: number): Pin | undefined {
  const isOver = canary === undefined && pin?.until !== undefined && Date.parse(pin.until) <= nowMs;
  return isOver ? undefined : pin;
}

/** Ways of nodes besides everybody's. A HEAD of an earlier version gives a canary's nodes its root at once. */
export function cohortsOf({ canary, cohorts }: Head): readonly Cohort[] {
  if (cohorts !== undefined || canary === undefined) return cohorts ?? [];
  const { root, percent, labels } = canary;
  return [{ shares: [{ percent, labels }], steps: [{ root, at: new Date(0).toISOString() }] }];
}

/** When the next step's time comes, if there is one. */
export function nextStageMs(head: Head, nowMs: number): number | undefined {
  const times = [head.steps, ...cohortsOf(head).map(({ steps }) => steps)].flat().map(({ at }) => Date.parse(at));
  const next = Math.min(...times.filter((atMs) => atMs > nowMs));
  return Number.isFinite(next) ? next : undefined;
}

/** Blobs of the gates that HEAD itself names. */
export function gatesOfHead(head: Head): readonly string[] {
  const steps = [head.steps, ...cohortsOf(head).map((cohort) => cohort.steps)].flat();
  return steps.flatMap(({ gate }) => gate ?? []);
}

/** Roots that HEAD itself names. */
export function rootsOfHead(head: Head): readonly string[] {
  const { newest } = head;
  return [...new Set([...rootsTriedOrServed(head), ...(newest === undefined ? [] : [newest])])];
}

/** The same, but for one that nobody is led to: the newest of a HEAD that is pinned elsewhere. */
export function rootsTriedOrServed(head: Head): readonly string[] {
  const { steps, canary } = head;
  const all = [...steps, ...cohortsOf(head).flatMap((cohort) => cohort.steps)].map(({ root }) => root);
  return [...new Set(canary === undefined ? all : [...all, canary.root])];
}
