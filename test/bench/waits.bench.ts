/**
 * A compile whose store is no disk: a function on S3 waits for every request. What a change and a cold start wait for, in rounds of
 * requests that follow each other, and what that comes to.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { createSnapshotReader } from "../../lib/snapshot/snapshot-reader.ts";
import { fileStore } from "../../lib/storage/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import { foldersFiles } from "./mesh-folder.ts";
import type { BenchOptions, Row } from "./report.ts";
import { type SlowStore, slowStore } from "./slow-store.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

/** A request to S3 from a function beside it takes 10 to 30 ms. */
const waitMs = 20;

/** A process that has compiled nothing yet. */
function openProcess(store: ObjectStore) {
  const write = createShardWriter(store, "main");
  const recompile = createWorldRecompiler({
    store,
    sources: ["main"],
    world: defaultWorldOptions,
    build: "that of the benchmark",
  });
  return async (files: readonly SourceFile[]): Promise<string> => {
    await write(files);
    return (await recompile()).version;
  };
}

/** What one piece of work took beside the same without waits. */
async function rowOf(what: string, slow: SlowStore, work: () => Promise<unknown>): Promise<Row> {
  slow.asked();
  const start = performance.now();
  await work();
  const ms = Math.round(performance.now() - start);
  return { "": what, ms, ...slow.asked() };
}

/** What a front reads for the first poll of a class: its root, its tree, and every resource of it. */
async function firstPoll(store: ObjectStore, rootHash: string): Promise<void> {
  const reader = createSnapshotReader(store);
  const { root, classes } = await reader.root(rootHash);
  const [one] = classes.values();
  const { segments } = await reader.tree(root, "clusters", one?.poll.clusters);
  for (const ref of segments) for await (const _bytes of reader.texts(ref));
}

export async function waitsBench({ report, services, quick }: BenchOptions): Promise<void> {
  const size = quick ? 100 : (services.find((one) => one >= 1_000) ?? services[0] ?? 100);
  const files = foldersFiles(syntheticMesh(size).text);
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-waits-"));
  const edited = (work: keyof typeof folderEdits, round: number) =>
    editedFiles(files, "app-0", (before) => folderEdits[work](before, round));
  try {
    await openProcess(fileStore(folder))(files);
    const slow = slowStore(fileStore(folder), waitMs);
    const rows: Row[] = [];
    const publish = openProcess(slow.store);
    rows.push(
      await rowOf("one VirtualService, a process that starts cold", slow, () => publish(edited("virtual-service", 1))),
    );
    for (const round of [2, 3]) await publish(edited("virtual-service", round));
    rows.push(await rowOf("one VirtualService, warm", slow, () => publish(edited("virtual-service", 4))));
    for (const round of [1, 2]) await publish(edited("endpoint", round));
    let version = "";
    rows.push(
      await rowOf("one endpoint, warm", slow, async () => {
        version = await publish(edited("endpoint", 4));
      }),
    );
    rows.push(
      await rowOf("a front that starts cold, clusters of one class", slow, () => firstPoll(slow.store, version)),
    );
    report.table(`A store that takes ${waitMs} ms for each request, ${size} services`, rows);
    report.rows("waits", rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
