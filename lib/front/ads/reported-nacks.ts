import type { Limits } from "../../limits/limits.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { findResource } from "../../streams/select-resources.ts";
import type { SentAnswer } from "../../streams/watch.ts";
import { beginningOf } from "../excess.ts";
import { type ExplainedRefusal, ifThere, type Suspect } from "../nodes/explain-refusal.ts";
import type { Refusal } from "../nodes/refusals.ts";
import { type RequestingNode, requestingNodeKey } from "../nodes/requesting-node.ts";

/** Who refuses what: the types of one node. */
export interface Refuser extends RequestingNode {
  readonly type: Refusal["type"];
}

/** What is refused: an answer, and of it the resources that the words are about. */
export interface ReportedNack {
  readonly answer: Pick<SentAnswer, "kept" | "version" | "classId" | "root">;
  readonly names: readonly string[];
  readonly error: string;
}

/** What nodes say, on their streams or by their agents, that they do not take. */
export interface ReportedNacks {
  refused(who: Refuser, said: ReportedNack): void;
  /** To be told when nothing is refused any more, and when the stream is over: what stands after it, the next one says again. */
  mended(who: Refuser): void;
  /** Those that stand now. */
  active(): readonly Refusal[];
  /** The latest first, each with what it is about. */
  explained(): Promise<readonly ExplainedRefusal[]>;
}

interface Said {
  readonly refusal: Refusal;
  readonly resources: readonly string[];
  readonly bytes: number;
  readonly saidMs: number;
}

/** What is kept of a node's own words, in characters, and of the names of what it refuses. */
const maxWords = 2_000;
const maxResources = 50;

/**
 * @param onRefusal told once of each version that a node refuses
 * @param forgetMs how long what was said stands that is not said again; nodes on streams say when it is over
 */
export function createReportedNacks(
  reader: SnapshotReader,
  now: () => number,
  onRefusal: (refusal: Refusal) => void,
  { refusalBytes, refusals }: Pick<Limits, "refusalBytes" | "refusals">,
  forgetMs = Number.POSITIVE_INFINITY,
): ReportedNacks {
  /** The one said longest ago first. */
  const kept = new Map<string, Said>();
  let bytes = 0;
  const keyOf = (who: Refuser) => `${who.type} ${requestingNodeKey(who)}`;

  function forget(key: string): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  function forgetTheGone(): void {
    const goneMs = now() - forgetMs;
    for (const [key, { saidMs }] of kept) if (saidMs < goneMs) forget(key);
  }

  return {
    refused(who, { answer, names, error: words }) {
      const key = keyOf(who);
      const before = kept.get(key)?.refusal;
      forget(key);
      const error = beginningOf(words, maxWords);
      const resources = names.slice(0, maxResources);
      const { version: refused, kept: keeps, classId, root } = answer;
      const sinceMs = before?.refused === refused ? before.sinceMs : now();
      const refusal = { ...who, name: "", refused, kept: keeps, sinceMs, classId, root, error };
      // Texts take up to two bytes a character, and the node's are in the key once more.
      const size = resources.reduce(
        (sum, { length }) => sum + 2 * length,
        600 + 4 * requestingNodeKey(who).length + 2 * error.length,
      );
      kept.set(key, { refusal, resources, bytes: size, saidMs: now() });
      bytes += size;
      for (const oldest of kept.keys()) {
        if (bytes <= refusalBytes) break;
        forget(oldest);
      }
      if (before?.refused !== refused) onRefusal(refusal);
    },
    mended: (who) => forget(keyOf(who)),
    active() {
      forgetTheGone();
      return [...kept.values()].map(({ refusal }) => refusal);
    },
    async explained() {
      forgetTheGone();
      const latest = [...kept.values()].reverse().slice(0, refusals);
      return Promise.all(
        latest.map(async ({ refusal, resources }) => ({
          ...refusal,
          suspects: await ifThere(() => namedIn(reader, refusal, resources)),
        })),
      );
    },
  };
}

async function namedIn(
  reader: SnapshotReader,
  { root, classId, type }: Refusal,
  names: readonly string[],
): Promise<readonly Suspect[]> {
  // A secret is in no snapshot; nobody but its name says where it is from.
  if (type === "secrets") return names.map((name) => ({ name, from: [] }));
  const loaded = await reader.root(root);
  const shape = loaded.classes.get(classId)?.stream;
  if (shape === undefined) return [];
  const tree = await reader.tree(loaded.root, type, shape[type]);
  const found = await Promise.all(names.map((name) => findResource(reader, tree, name)));
  return Promise.all(
    found.flat().map(async ({ segment, name }) => {
      return { name, from: (await reader.entries(segment)).get(name)?.from ?? [] };
    }),
  );
}
