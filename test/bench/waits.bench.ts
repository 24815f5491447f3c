/**
 * A compile whose store is no disk: a function on S3 waits for every request. What a change and a cold start wait for, in rounds of
 * requests that follow each other, and what that comes to.
 */
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { createPacker } from "../../lib/snapshot/packs/write-packs.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { openProcess } from "./open-process.ts";
import type { BenchOptions, Row } from "./report.ts";
import { type SlowStore, slowStore } from "./slow-store.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

/** A request to S3 from a function beside it takes 10 to 30 ms. */
const waitMs = 20;
const edgeWaitMs = 50;
const edgeConnections = 6;

/** What one piece of work took, and what it asked. */
async function rowOf(what: string, slow: SlowStore, work: () => Promise<unknown>): Promise<Row> {
  slow.asked();
  const start = performance.now();
  await work();
  const ms = Math.round(performance.now() - start);
  return { "": what, ms, ...slow.asked() };
}

/** A front that was not asked for long, and the first poll of a pod. @returns bytes of the answer */
async function firstPoll(store: ObjectStore, node: object): Promise<number> {
  const front = createFront({ store, headTtlMs: 0 });
  const answer = await frontApp(front).request("/v3/discovery:clusters", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ node, type_url: typeUrlOf("clusters") }),
  });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`the poll was answered with ${answer.status}: ${body.slice(0, 200)}`);
  return body.length;
}

interface PodDocument {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: object };
  readonly status: { readonly podIP: string };
}

/** What the Envoy beside the first pod of the mesh says of itself. */
function firstNode(text: string): object {
  for (const document of text.split("\n---\n")) {
    const { kind, metadata, status }: PodDocument = JSON.parse(document);
    if (kind !== "Pod") continue;
    const { name, namespace, labels } = metadata;
    const id = `sidecar~${status.podIP}~${name}.${namespace}~${namespace}.svc.cluster.local`;
    return { id, cluster: `${name}.${namespace}`, metadata: { NAMESPACE: namespace, LABELS: labels } };
  }
  throw new Error("the mesh has no pod");
}

export async function waitsBench({ report, services, quick }: BenchOptions): Promise<void> {
  const size = quick ? 100 : (services.find((one) => one >= 1_000) ?? services[0] ?? 100);
  const { text } = syntheticMesh(size);
  const files = foldersFiles(text);
  const store = memoryStore();
  const edited = (work: keyof typeof folderEdits, round: number) =>
    editedFiles(files, "app-0", (before) => folderEdits[work](before, round));
  await openProcess(store)(files);
  const slow = slowStore(store, waitMs);
  const rows: Row[] = [];
  const publish = openProcess(slow.store);
  rows.push(
    await rowOf("one VirtualService, a process that starts cold", slow, () => publish(edited("virtual-service", 1))),
  );
  for (const round of [2, 3]) await publish(edited("virtual-service", round));
  rows.push(await rowOf("one VirtualService, warm", slow, () => publish(edited("virtual-service", 4))));
  for (const round of [1, 2]) await publish(edited("endpoint", round));
  rows.push(await rowOf("one endpoint, warm", slow, () => publish(edited("endpoint", 4))));
  const { root: version, head } = await publish(edited("endpoint", 5));
  let bytes = 0;
  rows.push(
    await rowOf("a front that starts cold, a sidecar's clusters", slow, async () => {
      bytes = await firstPoll(slow.store, firstNode(text));
    }),
  );
  // As many requests at a time as a Worker has connections, and as long as R2 takes from another region.
  const edge = slowStore(store, edgeWaitMs, edgeConnections);
  const edgePoll = () => firstPoll(edge.store, firstNode(text));
  const where = `${edgeConnections} requests at a time of ${edgeWaitMs} ms`;
  rows.push(await rowOf(`the same, ${where}`, edge, edgePoll));
  await createPacker(store)({ version, generation: head.generation });
  rows.push(await rowOf(`the same with packs, ${where}`, edge, edgePoll));
  report.line(`the clusters of a sidecar: ${Math.round(bytes / 1024)} KiB`);
  report.table(`A store that takes ${waitMs} ms for each request, ${size} services`, rows);
  report.rows("waits", rows);
}
