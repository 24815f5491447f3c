/** A shop whose configuration and endpoints change apart from each other, in one folder, and what is served of both. */
import { loadAll } from "js-yaml";
import { fieldsOf } from "../../../lib/base/untyped.ts";
import { createCollector } from "../../../lib/collect/collector.ts";
import type { MemoryLimits } from "../../../lib/compile/recompile/recompiled.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { createRollout, type Rollout } from "../../../lib/compile/rollout.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import type { OriginObject } from "../../../lib/registry/origin/origin.ts";
import { resourcesIn } from "../../../lib/snapshot/compiled.ts";
import { lastRoot, newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import type { Publishing } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import type { Head } from "../../../lib/snapshot/root.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { FakeOrigin } from "../../collect/fake-origin.ts";

export const noPause = { settleMs: 0, retentionMs: 0 };

/** @param timeout of the route, which tells one configuration from another */
export const routes = (timeout: string): string => `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [web], http: [{timeout: ${timeout}, route: [{destination: {host: web}}]}]}
`;

/** @param address where the shop's server listens, which changes with each of its pods */
export const pods = (address: string): string => `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [${address}], conditions: {ready: true}}]
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: shop, labels: {app: client}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.9.0.1}
`;

/** What a root says of both planes: `5s 10.0.0.1`. */
export async function seenIn(store: ObjectStore, root: string): Promise<string> {
  const { world } = await restoreWorld(createSnapshotReader(store), root);
  const texts = world.classes.flatMap(({ stream }) =>
    [stream.routes, stream.endpoints].map((list) =>
      resourcesIn(list)
        .map(({ text }) => text)
        .join("\n"),
    ),
  );
  const found = (pattern: RegExp) =>
    [...new Set([...texts.join("\n").matchAll(pattern)].map(([, one = ""]) => one))].sort().join();
  return `${found(/"timeout":"([1-9][^"]*)"/g)} ${found(/"address":"(10\.0\.[^"]*)"/g)}`;
}

export interface Shop {
  readonly store: ObjectStore;
  head(): Promise<Head>;
  /** Writes the source, whose form is `5s 10.0.0.1`, and compiles it in a process that has compiled before. */
  publish(form: string, publishing?: Publishing): Promise<string>;
  /** The same in a process that starts. */
  publishCold(form: string, publishing?: Publishing): Promise<string>;
  /** By a process that starts. */
  rollout(): Rollout;
  served(): Promise<string>;
  newest(): Promise<string>;
  tried(): Promise<string>;
}

/** Writes what a form says into sources. */
export type Fill = (store: ObjectStore, form: { readonly routes: string; readonly pods: string }) => Promise<unknown>;

/** Both in one folder. */
const fillFolder: Fill = (store, form) =>
  writeShard(store, "main", [
    { file: "pods.yaml", text: form.pods },
    { file: "routes.yaml", text: form.routes },
  ]);

/** Both in one cluster, which a collector follows. */
export const fillCluster: Fill = async (store, form) => {
  const origin = new FakeOrigin();
  origin.which = "cluster 8d1f";
  const filled = createCollector({ store, source: "cluster", origin }).once();
  await origin.following;
  origin.whole("all", [form.pods, form.routes].flatMap(objectsIn));
  await filled;
};

function objectsIn(text: string): readonly OriginObject[] {
  return loadAll(text).map((json): OriginObject => {
    const object = fieldsOf(json);
    const { namespace, name } = fieldsOf(object.metadata);
    // A server counts writes: what was not written has the version of before.
    return { key: `${object.kind}/${namespace}/${name}`, version: sha256(JSON.stringify(object)).slice(0, 8), object };
  });
}

/** Configuration in a folder, and what runs in a cluster. */
export const fillBoth: Fill = async (store, form) => {
  await fillCluster(store, { ...form, routes: "" });
  await writeShard(store, "main", [{ file: "routes.yaml", text: form.routes }]);
};

/** @param room that whoever compiles has */
export function openShop(
  store: ObjectStore,
  build?: string,
  fill: Fill = fillFolder,
  memoryLimits?: MemoryLimits,
): Shop {
  const publisher = { pace: noPause };
  const options = { store, publisher, build, memoryLimits };
  const warm = createRecompiler(options);
  const head = async (): Promise<Head> => {
    const read = await readHead(store);
    if (read === undefined) throw new Error("no HEAD");
    return read.head;
  };
  const write = (form: string) => {
    const [timeout = "", address = ""] = form.split(" ");
    return fill(store, { pods: pods(address), routes: routes(timeout) });
  };
  return {
    store,
    head,
    async publish(form, publishing) {
      await write(form);
      return (await warm(publishing)).kind;
    },
    async publishCold(form, publishing) {
      await write(form);
      return (await createRecompiler(options)(publishing)).kind;
    },
    rollout: () => createRollout(options),
    served: async () => seenIn(store, lastRoot((await head()).steps)),
    newest: async () => seenIn(store, newestRoot(await head())),
    tried: async () => seenIn(store, (await head()).canary?.root ?? ""),
  };
}
