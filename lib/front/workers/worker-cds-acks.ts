import { factMs, isOneEnvoy, type MemoryCdsAcks } from "../heads/cds-acks.ts";

/** What nodes have confirmed to any process of a front. */
export interface WorkerCdsAcks extends MemoryCdsAcks {
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
export function workerCdsAcks(
  memory: MemoryCdsAcks,
  tell: (key: string, version: string) => void,
  now: () => number,
): WorkerCdsAcks {
  const sent = new Map<string, Fact>();
  const heard = new Map<string, Fact>();

  function keep(facts: Map<string, Fact>, key: string, version: string): void {
    if (facts.size >= most) facts.clear();
    facts.set(key, { version, saidMs: now() });
  }

  function share(key: string, version: string): void {
    const before = sent.get(key);
    if (before?.version === version && now() - before.saidMs < factMs / 2) return;
    keep(sent, key, version);
    tell(key, version);
  }

  return {
    ...memory,
    async hasOneOf(ackSource, versions) {
      if (await memory.hasOneOf(ackSource, versions)) {
        share(ackSource.key, memory.versionOf(ackSource) ?? "");
        return true;
      }
      const fact = heard.get(ackSource.key);
      if (fact === undefined || !isOneEnvoy(ackSource) || memory.isDoubtful(ackSource)) return false;
      return now() - fact.saidMs < factMs && versions.includes(fact.version);
    },
    heard(key, version) {
      keep(heard, key, version);
      memory.wake(key);
    },
  };
}
