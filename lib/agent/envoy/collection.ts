import type { AgentFolder, Staged } from "../files/agent-folder.ts";
import { type CollectionKind, collectionOf, type Entries } from "../files/envoy-files.ts";
import type { RefusedResources } from "./refused-resources.ts";
import { type Moment, type Moments, type ReadingEnvoy, startOf, untilTaken } from "./until-taken.ts";

/** All clusters, or all listeners, in one file. */
export interface Collection {
  readonly path: string;
  /** What Envoy has, as far as it was seen. */
  inForce(): Entries;
  /** What is wanted, with what was taken before in the place of what is refused. */
  allowed(wanted: Entries): Entries;
  /**
   * Leads Envoy to what is wanted as far as it goes. What it refuses is left as it was, and nothing but that.
   *
   * @returns false when Envoy has not said in time what it makes of it
   */
  settle(wanted: Entries, envoy: ReadingEnvoy, staged: Staged): Promise<boolean>;
}

const types = { cds: "clusters", lds: "listeners" } as const;

/** Names of their statistics. */
const subscriptions = { cds: "cluster_manager.cds", lds: "listener_manager.lds" } as const;

/** How long to wait until a collection is in force. */
const timeoutMs = 15_000;

/** Each attempt finds at least one resource that is refused; more than so many are left for the next change. */
const maxAttempts = 64;

/** @param good what Envoy had taken when the agent began */
export function createCollection(
  kind: CollectionKind,
  folder: AgentFolder,
  refused: RefusedResources,
  moments: Moments,
  good: Entries,
): Collection {
  const type = types[kind];
  const path = `${kind}.json`;
  let inForce = good;
  /** What is known to be in force, and in which Envoy. */
  let taken: { readonly version: string; readonly pid: number } | undefined;
  /** What was written last, and when. */
  let last: { readonly version: string; readonly since: Moment } | undefined;

  function allowed(wanted: Entries): Entries {
    const entries = [...wanted].flatMap(([name, entry]): readonly (readonly [string, typeof entry])[] => {
      if (!refused.has(type, name, entry.text)) return [[name, entry]];
      const before = inForce.get(name);
      return before === undefined ? [] : [[name, before]];
    });
    return new Map(entries);
  }

  /** Writes entries and waits until Envoy has taken them. */
  async function write(entries: Entries, envoy: ReadingEnvoy, staged?: Staged): Promise<Written> {
    const file = collectionOf(entries);
    const { version } = file;
    if (taken?.version === version && taken.pid === envoy.pid) return { kind: "taken" };
    taken = undefined;
    if (folder.versionOf(path) !== version) {
      last = { version, since: await moments.now(envoy) };
      await (staged ?? (await folder.stage(new Map([[path, file]])))).put(path);
    } else if (last?.version !== version || last.since.pid !== envoy.pid) {
      last = { version, since: envoy.isAdopted ? await moments.now(envoy) : startOf(envoy) };
      // What an agent before this one has heard of it died with that one.
      if (envoy.isAdopted && (await envoy.admin.versions())?.has(version) === false) await folder.putAgain(path);
    }
    const isAbout = (subscription: string) => subscription === subscriptions[kind];
    const { missing, refusing, words } = await untilTaken(envoy, [version], last.since, { timeoutMs, isAbout });
    if (missing.size > 0 && refusing.length === 0 && words.length === 0) return { kind: "unheard" };
    if (missing.size > 0) {
      const reasons = kind === "lds" ? await envoy.admin.refusedListeners() : new Map<string, string>();
      return { kind: "refused", words: words.join("\n") || [...reasons.values()].join("\n"), reasons };
    }
    inForce = entries;
    await folder.keep(path);
    taken = { version, pid: envoy.pid };
    return { kind: "taken" };
  }

  function blame(entries: Entries, names: readonly string[], { words, reasons }: Refused): void {
    for (const name of names)
      refused.add({
        type,
        name,
        text: entries.get(name)?.text ?? "",
        words: reasons.get(name) ?? wordsAbout(name, words),
      });
  }

  /** Adds what has changed by halves to what is in force; what is refused alone is to blame. */
  async function halve(target: Entries, names: readonly string[], envoy: ReadingEnvoy): Promise<void> {
    const half = Math.ceil(names.length / 2);
    for (const part of [names.slice(0, half), names.slice(half)]) {
      const added = [...target].filter(([name]) => part.includes(name));
      const written = await write(new Map([...inForce, ...added]), envoy);
      if (written.kind !== "refused") continue;
      if (part.length === 1) blame(target, part, written);
      else await halve(target, part, envoy);
    }
  }

  return {
    path,
    inForce: () => inForce,
    allowed,
    async settle(wanted, envoy, staged) {
      let written = await write(allowed(wanted), envoy, staged);
      for (let attempt = 0; written.kind === "refused" && attempt < maxAttempts; attempt += 1) {
        const said = written;
        const target = allowed(wanted);
        const names = [...target].flatMap(([name, { text }]) => (inForce.get(name)?.text === text ? [] : [name]));
        const named = names.filter((name) => said.reasons.has(name) || said.words.includes(` ${name}: `));
        if (named.length > 0) blame(target, named, said);
        else if (names.length === 1) blame(target, names, said);
        else if (names.length > 1) await halve(target, names, envoy);
        // Nothing is new in it: what was in force before comes back.
        written = await write(names.length === 0 ? inForce : allowed(wanted), envoy);
        if (names.length === 0) break;
      }
      return written.kind !== "unheard";
    },
  };
}

/** What Envoy says of one of several. */
function wordsAbout(name: string, words: string): string {
  const from = words.indexOf(` ${name}: `);
  return from === -1 ? words : words.slice(from + 1);
}

type Written = { readonly kind: "taken" } | { readonly kind: "unheard" } | Refused;

interface Refused {
  readonly kind: "refused";
  readonly words: string;
  /** Of single resources, where Envoy's dump of its configuration has them. */
  readonly reasons: ReadonlyMap<string, string>;
}
