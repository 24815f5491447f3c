import type { AgentFolder, Staged } from "../files/agent-folder.ts";
import { type CollectionKind, collectionOf, type Entries } from "../files/envoy-files.ts";
import type { RefusedResources } from "./refused-resources.ts";
import { type ReadingEnvoy, untilTaken } from "./until-taken.ts";

/** All clusters, or all listeners, in one file. */
export interface Collection {
  readonly path: string;
  /** What Envoy has, as far as it was seen. */
  inForce(): Entries;
  /** What is wanted, with what was taken before in the place of what is refused. */
  allowed(wanted: Entries): Entries;
  /** Leads Envoy to what is wanted as far as it goes. What it refuses is left as it was, and nothing but that. */
  settle(wanted: Entries, envoy: ReadingEnvoy, staged: Staged): Promise<void>;
}

const types = { cds: "clusters", lds: "listeners" } as const;

/** How long to wait until a collection is in force. */
const timeoutMs = 15_000;

/** Each attempt finds at least one resource that is refused; more than so many are left for the next change. */
const maxAttempts = 64;

/** @param good what Envoy had taken when the agent began */
export function createCollection(
  kind: CollectionKind,
  folder: AgentFolder,
  refused: RefusedResources,
  good: Entries,
): Collection {
  const type = types[kind];
  const path = `${kind}.json`;
  let inForce = good;

  function allowed(wanted: Entries): Entries {
    const entries = [...wanted].flatMap(([name, entry]): readonly (readonly [string, typeof entry])[] => {
      if (!refused.has(type, name, entry.text)) return [[name, entry]];
      const before = inForce.get(name);
      return before === undefined ? [] : [[name, before]];
    });
    return new Map(entries);
  }

  /** Writes entries and waits until Envoy has taken them. @returns its words if it has not */
  async function write(entries: Entries, envoy: ReadingEnvoy, staged?: Staged): Promise<string | undefined> {
    const file = collectionOf(entries);
    const mark = envoy.log.mark();
    await (staged ?? (await folder.stage(new Map([[path, file]])))).put(path);
    const words = await untilTaken(envoy, [file.version], mark, timeoutMs);
    if (words.size > 0) return [...words.values()].join("\n");
    inForce = entries;
    await folder.keep(path);
    return undefined;
  }

  function blame(entries: Entries, names: readonly string[], words: string): void {
    for (const name of names)
      refused.add({ type, name, text: entries.get(name)?.text ?? "", words: wordsAbout(name, words) });
  }

  /** Adds what has changed by halves to what is in force; what is refused alone is to blame. */
  async function halve(target: Entries, names: readonly string[], envoy: ReadingEnvoy): Promise<void> {
    const half = Math.ceil(names.length / 2);
    for (const part of [names.slice(0, half), names.slice(half)]) {
      const added = [...target].filter(([name]) => part.includes(name));
      const words = await write(new Map([...inForce, ...added]), envoy);
      if (words === undefined) continue;
      if (part.length === 1) blame(target, part, words);
      else await halve(target, part, envoy);
    }
  }

  return {
    path,
    inForce: () => inForce,
    allowed,
    async settle(wanted, envoy, staged) {
      let words = await write(allowed(wanted), envoy, staged);
      for (let attempt = 0; words !== undefined && attempt < maxAttempts; attempt += 1) {
        const said = words;
        const target = allowed(wanted);
        const names = [...target].flatMap(([name, { text }]) => (inForce.get(name)?.text === text ? [] : [name]));
        const named = names.filter((name) => said.includes(` ${name}: `));
        if (named.length > 0) blame(target, named, said);
        else if (names.length === 1) blame(target, names, said);
        else if (names.length > 1) await halve(target, names, envoy);
        // Nothing is new in it: what was in force before comes back.
        words = await write(names.length === 0 ? inForce : allowed(wanted), envoy);
        if (names.length === 0) return;
      }
    },
  };
}

/** What Envoy says of one of several. */
function wordsAbout(name: string, words: string): string {
  const from = words.indexOf(` ${name}: `);
  return from === -1 ? words : words.slice(from + 1);
}
