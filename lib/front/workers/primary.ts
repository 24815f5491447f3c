import { unreachable } from "../../base/diagnostic.ts";
import type { BelievedGenerations } from "../heads/believed-generations.ts";
import type { Refusal } from "../nodes/refusals.ts";
import { requestingNodeKey } from "../nodes/requesting-node.ts";
import type { UnmatchedNode } from "../nodes/unmatched-nodes.ts";
import type { HeadRelay } from "./head-relay.ts";
import type { FromWorker, Line, Parts, ToWorker } from "./messages.ts";
import { createNews } from "./news.ts";

/** What the first process of a front does for its workers. It serves nobody itself. */
export interface Primary {
  /** Takes a worker in. @returns to be called when it is gone */
  join(line: Line<ToWorker, FromWorker>, listener: WorkerListener): () => void;
  /** HEAD may be another one. */
  headChanged(): void;
  /** Asks all workers to end. */
  close(): void;
}

/** What a worker says of itself. */
export interface WorkerListener {
  serving(urls: readonly string[]): void;
  failed(reason: string): void;
}

export interface PrimaryOptions {
  readonly relay: HeadRelay;
  /** Outlives workers: one that takes another's place follows no HEAD that is older than what that one has believed. */
  readonly generations: BelievedGenerations;
  /** What the store's clock shows, where it tells. */
  readonly storeMs: () => Promise<number | undefined>;
  /** Told once, however many workers hear of it. */
  readonly onStranger: (unmatched: UnmatchedNode) => void;
  readonly onRefusal: (refusal: Refusal) => void;
  readonly onError: (cause: unknown) => void;
  readonly now: () => number;
}

/** A worker that is as busy as that answers for itself alone. */
const partsMs = 2_000;

interface Gathering {
  readonly parts: Partial<Parts>[];
  missing: number;
  readonly done: () => void;
}

export function createPrimary(options: PrimaryOptions): Primary {
  const { relay, storeMs, onError, generations } = options;
  const workers = new Set<Line<ToWorker, FromWorker>>();
  const gatherings = new Map<number, Gathering>();
  const isNews = createNews(options.now);
  let lastId = 0;

  async function answerHead(line: Line<ToWorker, FromWorker>, id: number, tag: string | undefined): Promise<void> {
    // Before the read: a HEAD that another worker believes in the meantime may be newer than what is read here.
    const believed = generations.newest();
    const reply = await relay.read(tag);
    line.send({ kind: "head", id, reply, storeMs: await storeMs(), believed });
  }

  /** What all other workers know, as far as they say it in time. */
  function gather(asking: Line<ToWorker, FromWorker>, askedId: number, name: keyof Parts): void {
    const others = [...workers].filter((line) => line !== asking);
    lastId += 1;
    const id = lastId;
    const done = () => {
      if (!gatherings.delete(id)) return;
      clearTimeout(timer);
      asking.send({ kind: "parts", id: askedId, parts: gathering.parts });
    };
    const timer = setTimeout(done, partsMs);
    const gathering: Gathering = { parts: [], missing: others.length, done };
    gatherings.set(id, gathering);
    for (const line of others) line.send({ kind: "part?", id, name });
    if (others.length === 0) done();
  }

  function gathered(id: number, part: Partial<Parts>): void {
    const gathering = gatherings.get(id);
    if (gathering === undefined) return;
    gathering.parts.push(part);
    gathering.missing -= 1;
    if (gathering.missing === 0) gathering.done();
  }

  function tellOthers(line: Line<ToWorker, FromWorker>, message: ToWorker): void {
    for (const other of workers) if (other !== line) other.send(message);
  }

  function hear(line: Line<ToWorker, FromWorker>, message: FromWorker, listener: WorkerListener): void {
    switch (message.kind) {
      case "serving":
        listener.serving(message.urls);
        break;
      case "failed":
        listener.failed(message.reason);
        break;
      case "head?":
        answerHead(line, message.id, message.ifNoneMatch).catch(onError);
        break;
      case "believed":
        generations.believed(message.generation);
        break;
      case "parts?":
        gather(line, message.id, message.name);
        break;
      case "part":
        gathered(message.id, message.part);
        break;
      case "confirmed":
        tellOthers(line, message);
        break;
      case "stranger":
        if (isNews(unmatchedKey(message.unmatched))) options.onStranger(message.unmatched);
        break;
      case "refusal":
        if (isNews(refusalKey(message.refusal))) options.onRefusal(message.refusal);
        break;
      default:
        unreachable(message);
    }
  }

  return {
    join(line, listener) {
      workers.add(line);
      line.listen((message) => hear(line, message, listener));
      return () => workers.delete(line);
    },
    headChanged() {
      for (const line of workers) line.send({ kind: "head changed" });
    },
    close() {
      relay.close();
      for (const line of workers) line.send({ kind: "close" });
    },
  };
}

const unmatchedKey = (unmatched: UnmatchedNode): string => `stranger ${unmatched.kind} ${requestingNodeKey(unmatched)}`;
const refusalKey = (refusal: Refusal): string =>
  `refusal ${refusal.type} ${refusal.name} ${refusal.refused} ${requestingNodeKey(refusal)}`;
