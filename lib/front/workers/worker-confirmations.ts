import { factMs, isOneEnvoy, type MemoryConfirmations } from "../heads/confirmations.ts";

/** What nodes have confirmed to any process of a front. */
export interface WorkerConfirmations extends MemoryConfirmations {
  /** To be told of what another process has heard. */
  heard(key: string, version: string): void;
}

/** What is forgotten is waited for. */
const most = 10_000;

interface Fact {
  readonly version: string;
  readonly saidMs: number;
}

/**
 * The confirmations of this process and of the others. What lets a node through a gate is told to them, and wakes the polls that wait for
 * it there: a node's polls may come in by connections to different processes.
 */
export function workerConfirmations(
  memory: MemoryConfirmations,
  tell: (key: string, version: string) => void,
  now: () => number,
): WorkerConfirmations {
  const told = new Map<string, Fact>();
  const heard = new Map<string, Fact>();

  function keep(facts: Map<string, Fact>, key: string, version: string): void {
    if (facts.size >= most) facts.clear();
    facts.set(key, { version, saidMs: now() });
  }

  function share(key: string, version: string): void {
    const before = told.get(key);
    if (before?.version === version && now() - before.saidMs < factMs / 2) return;
    keep(told, key, version);
    tell(key, version);
  }

  return {
    ...memory,
    async hasOneOf(confirmer, versions) {
      if (await memory.hasOneOf(confirmer, versions)) {
        share(confirmer.key, memory.versionOf(confirmer) ?? "");
        return true;
      }
      const fact = heard.get(confirmer.key);
      if (fact === undefined || !isOneEnvoy(confirmer) || memory.isDoubtful(confirmer)) return false;
      return now() - fact.saidMs < factMs && versions.includes(fact.version);
    },
    heard(key, version) {
      keep(heard, key, version);
      memory.wake(key);
    },
  };
}
