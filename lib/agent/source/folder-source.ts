import { headKey } from "../../base/blob.ts";
import { causeText } from "../../base/cause-text.ts";
import { labelsOf } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { rolloutFor } from "../../snapshot/head/cohorts.ts";
import { nextStageMs, readHead, rootAt } from "../../snapshot/head/head.ts";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Head, ProxyClass } from "../../snapshot/root.ts";
import { wholeText } from "../../snapshot/whole-text.ts";
import { createTreeEncoder } from "../../snapshot/worlds/encode-tree.ts";
import { fileStore } from "../../storage/files/files.ts";
import type { GenerationKeeper } from "./generation.ts";
import { type AgentNode, claimsOfNode } from "./node.ts";
import { classesFor } from "./placement.ts";
import {
  type HeldResource,
  type HeldType,
  type Holding,
  type Holdings,
  heldResource,
  holdingOf,
  isWhole,
  type WholeHoldings,
} from "./resources.ts";
import type { Source, SourceSink } from "./source.ts";

export interface FolderSourceOptions {
  /** Folder that `portolan export` has filled, or a store in a folder. */
  readonly folder: string;
  readonly node: AgentNode;
  /** Keys of which one must have signed HEAD; absent: any HEAD is taken. */
  readonly trusted?: readonly SigningJwk[] | undefined;
  readonly generation: GenerationKeeper;
  readonly types: readonly HeldType[];
}

/** How often the folder is looked at besides what the system tells. */
const lookMs = 30_000;

/** For machines without network: reads a snapshot in a folder itself, and again whenever its HEAD is replaced. */
export function folderSource({ folder, node, trusted, generation, types }: FolderSourceOptions): Source {
  const store = fileStore(folder);
  const reader = createSnapshotReader(store, 4 * 1024 * 1024);
  let timer: NodeJS.Timeout | undefined;
  let stopWatching: (() => void) | undefined;
  let isClosed = false;
  let isReading = false;
  let isStale = false;

  async function read(sink: SourceSink): Promise<void> {
    const found = await readHead(store, trusted === undefined ? {} : { trusted });
    if (found === undefined) throw new PortolanError(`${folder} holds no snapshot: \`portolan export\` fills a folder`);
    generation.check(found.head);
    const holdings = await holdingsIn(reader, found.head, node, types);
    await generation.keep(found.head);
    if (isClosed) return;
    sink.changed(holdings);
    sink.reached();
    const stepMs = nextStageMs(found.head, Date.now());
    plan(sink, Math.min(lookMs, stepMs === undefined ? lookMs : Math.max(stepMs - Date.now(), 1)));
  }

  function plan(sink: SourceSink, delayMs: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => look(sink), delayMs);
  }

  async function look(sink: SourceSink): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    while (isStale && !isClosed) {
      isStale = false;
      await read(sink).catch((cause: unknown) => {
        sink.trouble(causeText(cause));
        plan(sink, 5_000);
      });
    }
    isReading = false;
  }

  return {
    start(sink) {
      stopWatching = store.watch?.(headKey, () => look(sink));
      look(sink);
    },
    // There is nobody to tell; the agent's own log and status say it.
    rejects() {},
    accepts() {},
    close() {
      isClosed = true;
      clearTimeout(timer);
      stopWatching?.();
    },
  };
}

/** What a node has in the root that HEAD leads it to. @throws PortolanError when it has no class there, or something is missing */
async function holdingsIn(
  reader: SnapshotReader,
  head: Head,
  node: AgentNode,
  types: readonly HeldType[],
): Promise<WholeHoldings> {
  const claims = claimsOfNode(node);
  const rollout = rolloutFor(head, { nodeId: node.id, labels: () => labelsOf(claims) });
  const loaded = await reader.root(rootAt(rollout, Date.now()));
  const [classId] = await classesFor(reader, loaded, claims);
  const proxyClass = classId === undefined ? undefined : loaded.classes.get(classId);
  if (proxyClass === undefined) throw new PortolanError(`the snapshot has no class for the node ${node.id}`);
  const holdings: Holdings = Object.fromEntries(
    await Promise.all(types.map(async (type) => [type, await holdingIn(reader, loaded, proxyClass, type)] as const)),
  );
  if (!isWhole(holdings, types)) throw new Error("a root has every type");
  return holdings;
}

async function holdingIn(
  reader: SnapshotReader,
  { root }: LoadedRoot,
  proxyClass: ProxyClass,
  type: HeldType,
): Promise<Holding> {
  const { segments } = await reader.tree(root, type, proxyClass.stream[type]);
  const resources: HeldResource[] = [];
  for (const segment of segments) {
    for (const name of (await reader.entries(segment)).keys())
      resources.push(heldResource(type, name, await wholeText(reader.texts(segment, name))));
  }
  return holdingOf(resources, createTreeEncoder());
}
