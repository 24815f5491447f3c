import { PortolanError } from "../../config/diagnostic.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import { readHead } from "../../snapshot/head/head.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import { publishedVersions } from "../shards/published-versions.ts";
import { createUnreadSources } from "../shards/unread-sources.ts";
import { sourceVersions } from "../slices/source-versions.ts";
import type { Compile } from "../triggers/turns.ts";
import {
  type HeldSource,
  type HeldVersions,
  heldDiagnostic,
  readHeldSources,
  waitingDiagnostic,
  writeHeldSources,
} from "./held-sources.ts";

/** One compile in a process that may end. */
export interface Attempt {
  readonly publishing: Publishing | undefined;
  readonly mayPublish: () => Promise<void>;
  readonly held: HeldVersions;
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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Sources wait to be tried one by one: the next compile is to follow. */
  readonly onWaiting: () => void;
}

const firstRetryMs = 10 * 60_000;
const longestRetryMs = 6 * 60 * 60_000;

/**
 * Compiles in a process of its own. Where that process ends, the sources that have changed since the newest root are suspects: the
 * compile is repeated without the newest change of the one suspect, or with one suspect at a time, so that all others are published.
 * The version that ends a process is held back until the source changes, or for ten minutes, and twice as long each time. One that
 * takes too long is held back the second time.
 *
 * @returns throws PortolanError when the process ends although no source has changed, or the primary source would be left out
 */
export function createIsolatedCompile({ store, primary, attempt, now, onWaiting }: IsolationOptions): Compile {
  /** Sources that have changed and are not tried yet. */
  let waiting: ReadonlySet<string> = new Set();
  /** Versions with which a compile took too long once: the machine may have been busy. */
  const slowOnce = new Set<string>();
  let settled: Promise<unknown> = Promise.resolve();

  const versionsInForce = async () => publishedVersions(store, await readHead(store));

  /** What is held back now: versions that have ended processes, and changes that wait. */
  async function heldNow(): Promise<Held> {
    // What cannot be read is reported by the process that compiles.
    const { keeping } = createUnreadSources(store, await readHead(store));
    const [known, versions] = await Promise.all([readHeldSources(store), sourceVersions(store, [], keeping)]);
    const current = new Map(versions.map(({ name, version }) => [name, version]));
    const applying = known.filter(({ name, version, retryMs }) => current.get(name) === version && now() < retryMs);
    const waits = versions.filter(({ name }) => waiting.has(name) && !applying.some((one) => one.name === name));
    if (applying.length + waits.length === 0) return { known, applying, versions, inForce: undefined, map: new Map() };
    const inForce = await keeping.published();
    const of = ({ name }: CompiledSource): [string, string | undefined] => [name, inForce.get(name)];
    return { known, applying, versions, inForce, map: new Map([...applying, ...waits].map(of)) };
  }

  /** Notes what the end of a process says of the sources. @returns whether another attempt may come to something else */
  async function suspect(held: Held, reason: string, isLate: boolean): Promise<boolean> {
    const inForce = held.inForce ?? (await versionsInForce());
    const suspects = held.versions.filter(({ name, version }) => !held.map.has(name) && inForce.get(name) !== version);
    const [first, ...others] = suspects;
    if (first === undefined) return false;
    if (others.length > 0) {
      waiting = new Set([...waiting, ...others.map(({ name }) => name)]);
      return true;
    }
    const strike = `${first.name} ${first.version}`;
    if (isLate && !slowOnce.has(strike)) {
      slowOnce.add(strike);
      return true;
    }
    const before = held.known.find(({ name, version }) => name === first.name && version === first.version);
    const deaths = (before?.deaths ?? 0) + 1;
    const instead = inForce.get(first.name);
    const noted: HeldSource = {
      ...first,
      ...(instead === undefined ? {} : { instead }),
      reason,
      deaths,
      retryMs: now() + Math.min(longestRetryMs, firstRetryMs * 2 ** (deaths - 1)),
    };
    const isCurrent = (one: HeldSource) =>
      held.versions.some(({ name, version }) => name === one.name && version === one.version);
    const rest = held.known.filter((one) => one.name !== first.name && isCurrent(one));
    await writeHeldSources(store, [...rest, noted]);
    slowOnce.clear();
    waiting = withoutFirst(waiting);
    return true;
  }

  const reportsOf = ({ applying, map }: Held) => [
    ...applying.map(heldDiagnostic),
    ...[...map.keys()].filter((name) => !applying.some((one) => one.name === name)).map(waitingDiagnostic),
  ];

  async function compile(
    publishing: Publishing | undefined,
    mayPublish: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<Recompiled> {
    for (;;) {
      const held = await heldNow();
      const reports = reportsOf(held);
      const isLeftOut = (name: string): boolean => held.map.has(name) && held.map.get(name) === undefined;
      if (primary !== undefined && isLeftOut(primary))
        throw new PortolanError(
          `no version of the primary source ${primary} was ever published, and the newest one cannot be compiled; nothing is published without it`,
          reports,
        );
      const outcome = await attempt({ publishing, mayPublish, held: held.map, signal });
      if (outcome.kind === "compiled") {
        if (waiting.size > 0) onWaiting();
        waiting = withoutFirst(waiting);
        return { ...outcome.told, diagnostics: [...outcome.told.diagnostics, ...reports] };
      }
      const isWorthAnother = await suspect(held, outcome.reason, signal.aborted);
      if (signal.aborted || !isWorthAnother) throw new PortolanError(endedText(outcome.reason), reports);
    }
  }

  return async (publishing, mayPublish, signal = new AbortController().signal) => {
    // What the process before has shown may still be noted: a compile that was given up is not waited for.
    await settled;
    const made = compile(publishing, mayPublish, signal);
    settled = made.catch(() => {});
    return made;
  };
}

interface Held {
  readonly known: readonly HeldSource[];
  /** Those of the known that are of versions as they are now, and not to be tried again yet. */
  readonly applying: readonly HeldSource[];
  readonly versions: readonly CompiledSource[];
  readonly inForce: ReadonlyMap<string, string> | undefined;
  readonly map: HeldVersions;
}

/** The next one that waits has its turn. */
const withoutFirst = (names: ReadonlySet<string>): ReadonlySet<string> => new Set([...names].slice(1));

const endedText = (reason: string): string =>
  `the compile process ended before it was done (${reason}); HEAD is as it was. If no source has changed, give it more memory or time`;
