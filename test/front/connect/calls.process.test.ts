import { createRegistry } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { RouteDiscoveryService } from "../../../gen/envoy/service/route/v3/rds_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import { createFront } from "../../../lib/front/front.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { clusterWorld } from "./cluster-world.ts";
import { protocols, serveProtocols } from "./protocols.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const registry = createRegistry(ClusterSchema);
const node = { id: "sidecar~10.0.0.5~web.default~default.svc.cluster.local", cluster: "web.default" };

const store = memoryStore();
const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
const publish = async (stats: Readonly<Record<string, string>>) =>
  publisher.publish(clusterWorld(stats), await publisher.head());

let served: Awaited<ReturnType<typeof serveProtocols>>;

beforeAll(async () => {
  const front = createFront({ store, headTtlMs: 0 });
  served = await serveProtocols(front, registry);
});

afterAll(() => served.close());

describe.each(protocols)("%s", (name) => {
  const client = <S extends typeof ClusterDiscoveryService | typeof RouteDiscoveryService | typeof SnapshotService>(
    service: S,
  ) => createClient(service, served.transports[name]);
  const statsOf = (clusters: readonly (Cluster | undefined)[]) =>
    clusters.map((found) => [found?.name, found?.altStatName]);

  it("fetches the whole type, and refuses to send a version again", async () => {
    await publish({ a: "1", b: "2" });
    const clusters = client(ClusterDiscoveryService);
    const response = await clusters.fetchClusters({ node, typeUrl });
    expect(statsOf(response.resources.map((any) => anyUnpack(any, ClusterSchema)))).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
    const again = clusters.fetchClusters({ node, typeUrl, versionInfo: response.versionInfo });
    await expect(again).rejects.toMatchObject({ code: Code.AlreadyExists });
  });

  it("sends what changed and names what went", async () => {
    await publish({ a: "1", b: "2", c: "3" });
    const snapshots = client(SnapshotService);
    const first = await snapshots.deltaFetch({ node, typeUrl });
    expect(first.resources.map((resource) => resource.name)).toEqual(["a", "b", "c"]);
    const initialResourceVersions = Object.fromEntries(
      first.resources.map((resource) => [resource.name, resource.version]),
    );
    await publish({ a: "1", b: "22" });
    const second = await snapshots.deltaFetch({ node, typeUrl, initialResourceVersions });
    expect(statsOf(second.resources.map(({ resource }) => resource && anyUnpack(resource, ClusterSchema)))).toEqual([
      ["b", "22"],
    ]);
    expect(second.removedResources).toEqual(["c"]);
  });

  it("says what is wrong with its code", async () => {
    await publish({ a: "1" });
    const clusters = client(ClusterDiscoveryService);
    await expect(clusters.fetchClusters({ typeUrl })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(clusters.fetchClusters({ node: { id: "nobody" }, typeUrl })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    const routes = client(RouteDiscoveryService).fetchRoutes({ node, resourceNames: ["80"] });
    await expect(routes).rejects.toMatchObject({ code: Code.NotFound });
    const delta = client(SnapshotService).deltaFetch({ node, typeUrl: "type.googleapis.com/other" });
    await expect(delta).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
