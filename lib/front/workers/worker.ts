import { headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { GetResult, ObjectStore } from "../../storage/object-store.ts";
import { type BelievedGenerations, memoryGenerations } from "../heads/believed-generations.ts";
import { type MemoryCdsAcks, memoryCdsAcks } from "../heads/cds-acks.ts";
import type { NodeStatus } from "../nodes/node-watch.ts";
import type { Siblings } from "../nodes/siblings.ts";
import type { FromWorker, HeadReply, Line, PartName, Parts, ToWorker } from "./messages.ts";
import { workerCdsAcks } from "./worker-cds-acks.ts";

/** What a worker has of the processes beside it. */
export interface Worker {
  /** A store whose HEAD the first process reads for all. */
  storeOver(store: ObjectStore): ObjectStore;
  readonly siblings: Siblings;
  /** What nodes of the others have. */
  nodes(): Promise<readonly NodeStatus[]>;
  /** Series of the others, a list each. */
  metrics(): Promise<readonly (readonly object[])[]>;
  /** What nodes have confirmed to any of them. */
  readonly cdsAcks: MemoryCdsAcks;
  /** Shared with the others, and with those before them, through the first process. */
  readonly generations: BelievedGenerations;
  /** Answers others' questions from now on. */
  serve(parts: OwnParts): void;
  /** To be told once that it is to end. */
  onClose(close: () => void): void;
}

/** What this process knows. */
export type OwnParts = { readonly [Name in PartName]: () => Promise<Parts[Name]> | Parts[Name] };

/** More answers than that are not waited for. */
const maxAsked = 10_000;

export function createWorker(line: Line<FromWorker, ToWorker>, now: () => number): Worker {
  let lastId = 0;
  let own: OwnParts | undefined;
  let close: () => void = () => {};
  let headChanged: () => void = () => {};
  /** What the store's clock showed, and when this process was told. */
  let clock: { readonly storeMs: number; readonly observedMs: number } | undefined;
  const generations = memoryGenerations();
  const heads = new Map<number, (reply: HeadReply) => void>();
  const parts = new Map<number, (parts: readonly Partial<Parts>[]) => void>();
  const cdsAcks = workerCdsAcks(
    memoryCdsAcks(now),
    (key, version) => line.send({ kind: "confirmed", key, version }),
    now,
  );

  async function answer(id: number, name: PartName): Promise<void> {
    const part = own === undefined ? {} : { [name]: await own[name]() };
    line.send({ kind: "part", id, part });
  }

  line.listen((message) => {
    switch (message.kind) {
      case "head":
        generations.believed(message.believed);
        clock = message.storeMs === undefined ? undefined : { storeMs: message.storeMs, observedMs: now() };
        heads.get(message.id)?.(message.reply);
        heads.delete(message.id);
        return;
      case "parts":
        parts.get(message.id)?.(message.parts);
        parts.delete(message.id);
        return;
      case "head changed":
        return headChanged();
      case "part?":
        // What cannot be told is not waited for long.
        return void answer(message.id, message.name).catch(() => {});
      case "confirmed":
        return cdsAcks.heard(message.key, message.version);
      case "close":
        return close();
    }
  });

  function ask<T>(waiting: Map<number, (answer: T) => void>, question: (id: number) => FromWorker): Promise<T> {
    return new Promise((resolve, reject) => {
      if (waiting.size >= maxAsked) return reject(new PortolanError("the first process does not answer"));
      lastId += 1;
      waiting.set(lastId, resolve);
      line.send(question(lastId));
    });
  }

  const partsOf = (name: PartName) => ask(parts, (id) => ({ kind: "parts?", id, name }));

  async function head(ifNoneMatch: string | undefined): Promise<GetResult> {
    const reply = await ask(heads, (id) => ({ kind: "head?", id, ifNoneMatch }));
    if (reply.kind === "failed") throw new PortolanError(reply.reason);
    if (reply.kind !== "found") return reply;
    const { text, etag, modifiedMs } = reply;
    const bytes = new TextEncoder().encode(text);
    return { kind: "found", bytes, etag, ...(modifiedMs === undefined ? {} : { modifiedMs }) };
  }

  return {
    storeOver: (store) => ({
      ...store,
      get: (key, condition) => (key === headKey ? head(condition?.ifNoneMatch) : store.get(key, condition)),
      watch(key, onChange) {
        if (key !== headKey) return store.watch?.(key, onChange) ?? (() => {});
        headChanged = onChange;
        return () => {
          headChanged = () => {};
        };
      },
      ...(store.time === undefined
        ? {}
        : {
            time: async () =>
              (await store.time?.()) ?? (clock === undefined ? undefined : clock.storeMs + now() - clock.observedMs),
          }),
    }),
    siblings: {
      refusals: async () => (await partsOf("refusals")).flatMap(({ refusals = [] }) => refusals),
      strangers: async () => (await partsOf("strangers")).flatMap(({ strangers = [] }) => strangers),
    },
    nodes: async () => (await partsOf("nodes")).flatMap(({ nodes = [] }) => nodes),
    metrics: async () => (await partsOf("metrics")).map(({ metrics = [] }) => metrics),
    cdsAcks,
    generations: {
      ...generations,
      believed(generation) {
        if (generation > generations.newest()) line.send({ kind: "believed", generation });
        generations.believed(generation);
      },
      remedy: "delete the file in trust.generations that the first process names when it starts, and restart the front",
    },
    serve(parts) {
      own = parts;
    },
    onClose(listener) {
      close = listener;
    },
  };
}
