import { PortolanError } from "../../base/diagnostic.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import { readHead } from "../../snapshot/head/head.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import { publishedVersions } from "../shards/published-versions.ts";
import { createUnreadSources } from "../shards/unread-sources.ts";
import { sourceVersions } from "../slices/source-versions.ts";
import type { Compile } from "../triggers/compile-job.ts";
import { changesInSource } from "./changes-in-source.ts";
import {
  nothingWithheld,
  readWithheldSources,
  untilItsTurn,
  type WithheldSource,
  type WithheldVersions,
  withheldDiagnostic,
  writeWithheldSources,
} from "./withheld-sources.ts";

/** One compile in a process that may end. */
export interface Attempt {
  readonly publishing: Publishing | undefined;
  readonly mayPublish: () => Promise<void>;
  readonly held: WithheldVersions;
  /** Aborted when the compile has taken too long: the process is ended. */
  readonly signal: AbortSignal;
}

export type AttemptOutcome =
  | { readonly kind: "compiled"; readonly told: Recompiled }
  /** The process ended before it answered. */
  | { readonly kind: "ended"; readonly reason: string };

export interface IsolationOptions {
  readonly store: ObjectStore;
  /** The source whose settings count for the mesh: where no version of it was ever published, nothing is published without it. */
  readonly primary: string | undefined;
  /** Rejects when the compile fails in a process that lives. */
  readonly attempt: (attempt: Attempt) => Promise<AttemptOutcome>;
  /** Whether attempts run in this process, so that it does not outlive one that runs out of memory. False when absent. */
  readonly isHere?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Sources wait to be tried one by one: the next compile is to follow. Absent: it follows when somebody asks, or by a schedule. */
  readonly onWaiting?: () => void;
}

const firstRetryMs = 10 * 60_000;
const longestRetryMs = 6 * 60 * 60_000;
/** A process that compiles may end by chance once: an update, or a platform that stops it. */
const deathsOfChance = 1;

/**
 * Compiles so that one change which ends the process that compiles it does not hold up the others. Where that process ends, the sources
 * that have changed since the newest root are suspects: the compile is repeated without the newest change of the one suspect, or with
 * one suspect at a time, so that all others are published. The version that ends a process is held back until the source changes, or for
 * ten minutes, and twice as long each time. One that takes too long is held back the second time.
 *
 * The end of a child process is seen at once. A process that compiles itself leaves its lease behind when it ends: the process that
 * takes the lease over counts the death, and suspects the sources from the second one on.
 *
 * @returns throws PortolanError when the process ends although no source has changed, or the primary source would be left out
 */
export function createIsolatedCompile(options: IsolationOptions): Compile {
  const { store, primary, attempt, isHere = false, now, onWaiting = () => {} } = options;
  /** Versions with which a compile took too long once: the machine may have been busy. */
  const slowOnce = new Set<string>();
  let settled: Promise<unknown> = Promise.resolve();

  const versionsInForce = async () => publishedVersions(store, await readHead(store));

  /**
   * What is held back now: versions that have ended processes, and changes that wait.
   *
   * @param isSuspecting whether the sources are looked at although nothing is held
   */
  async function heldNow(isSuspecting: boolean): Promise<Held> {
    const [known, head] = await Promise.all([readWithheldSources(store), isSuspecting ? readHead(store) : undefined]);
    if (known.length === 0 && !isSuspecting)
      return { known, applying: [], versions: [], inForce: undefined, map: nothingWithheld };
    // What cannot be read is reported by the process that compiles.
    const { keeping } = createUnreadSources(store, isSuspecting ? head : await readHead(store));
    const versions = await sourceVersions(store, [], keeping);
    const current = known.filter((one) => isAmong(versions, one));
    const applying = current.filter(({ retryMs }) => now() < retryMs);
    if (applying.length === 0) return { known: current, applying, versions, inForce: undefined, map: nothingWithheld };
    const inForce = await keeping.published();
    const map = new Map(applying.map(({ name }) => [name, inForce.get(name)]));
    return { known: current, applying, versions, inForce, map };
  }

  /** Notes what the end of a process says of the sources. @returns whether another attempt may come to something else */
  async function suspect(held: Held, reason: string, isLate: boolean): Promise<boolean> {
    const inForce = held.inForce ?? (await versionsInForce());
    const suspects = held.versions.filter(({ name, version }) => !held.map.has(name) && inForce.get(name) !== version);
    const [first, ...others] = suspects;
    if (first === undefined) return false;
    const heldAs = (source: CompiledSource, deaths: number, retryMs: number): WithheldSource => {
      const instead = inForce.get(source.name);
      return { ...source, ...(instead === undefined ? {} : { instead }), reason, deaths, retryMs };
    };
    if (others.length > 0) {
      const rest = held.known.filter((one) => !isAmong(others, one));
      await writeWithheldSources(store, [...rest, ...others.map((one) => heldAs(one, 0, untilItsTurn))]);
      return true;
    }
    const strike = `${first.name} ${first.version}`;
    if (isLate && !slowOnce.has(strike)) {
      slowOnce.add(strike);
      return true;
    }
    const deaths = (held.known.find(({ name }) => name === first.name)?.deaths ?? 0) + 1;
    const retryMs = now() + Math.min(longestRetryMs, firstRetryMs * 2 ** (deaths - 1));
    const rest = held.known.filter(({ name }) => name !== first.name);
    const one = await withChanges(heldAs(first, deaths, retryMs));
    await writeWithheldSources(store, [...withNextTurn(rest), one]);
    slowOnce.clear();
    return true;
  }

  /** With what is to be looked at first; where that cannot be read, the source is held all the same. */
  async function withChanges(held: WithheldSource): Promise<WithheldSource> {
    if (held.instead === undefined) return held;
    const changes = await changesInSource(store, held.name, held.instead, held.version).catch(() => undefined);
    return changes === undefined ? held : { ...held, changes };
  }

  async function compile(
    publishing: Publishing | undefined,
    mayPublish: () => Promise<void>,
    signal: AbortSignal,
    deaths: number,
  ): Promise<Recompiled> {
    let held = await heldNow(!isHere || deaths > 0);
    const isTrying = held.known.length > held.applying.length;
    if (deaths > (isTrying ? 0 : deathsOfChance) && (await suspect(held, deathsText(deaths), false)))
      held = await heldNow(true);
    for (;;) {
      const reports = held.applying.map(withheldDiagnostic);
      const isLeftOut = (name: string): boolean => held.map.has(name) && held.map.get(name) === undefined;
      if (primary !== undefined && isLeftOut(primary))
        throw new PortolanError(
          `no version of the primary source ${primary} was ever published, and the newest one cannot be compiled; nothing is published without it`,
          reports,
        );
      const outcome = await attempt({ publishing, mayPublish, held: held.map, signal });
      if (outcome.kind === "compiled") {
        const next = withNextTurn(held.applying);
        const isNextTried = next.some(({ retryMs }) => retryMs === 0);
        if (isNextTried || held.known.length > held.applying.length) await writeWithheldSources(store, next);
        if (isNextTried) onWaiting();
        return { ...outcome.told, diagnostics: [...outcome.told.diagnostics, ...reports] };
      }
      // The process may have filled a source itself, as that of `portolan dev` does.
      held = await heldNow(true);
      const isWorthAnother = await suspect(held, outcome.reason, signal.aborted);
      if (signal.aborted || !isWorthAnother) throw new PortolanError(endedText(outcome.reason), reports);
      held = await heldNow(true);
    }
  }

  return async (publishing, mayPublish, signal = new AbortController().signal, deaths = 0) => {
    // What the process before has shown may still be noted: a compile that was given up is not waited for. Where several requests share
    // an isolate, the promise of one that was cancelled never settles.
    if (!isHere) await settled;
    const made = compile(publishing, mayPublish, signal, deaths);
    settled = made.catch(() => {});
    return made;
  };
}

interface Held {
  /** All that are noted, of versions as they are now. */
  readonly known: readonly WithheldSource[];
  /** Those of them that are not to be tried now. */
  readonly applying: readonly WithheldSource[];
  readonly versions: readonly CompiledSource[];
  readonly inForce: ReadonlyMap<string, string> | undefined;
  readonly map: WithheldVersions;
}

const isAmong = (sources: readonly CompiledSource[], { name, version }: CompiledSource): boolean =>
  sources.some((one) => one.name === name && one.version === version);

/** The next one that waits is tried now. */
function withNextTurn(held: readonly WithheldSource[]): readonly WithheldSource[] {
  const next = held.find(({ retryMs }) => retryMs === untilItsTurn);
  return held.map((one) => (one === next ? { ...one, retryMs: 0 } : one));
}

const deathsText = (deaths: number): string => (deaths === 1 ? "without a word" : `without a word, ${deaths} in a row`);

const endedText = (reason: string): string =>
  `the compile process ended before it was done (${reason}); HEAD is as it was. If no source has changed, give it more memory or time`;
