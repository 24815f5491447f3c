import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.ts";
import { blobKey } from "../../../lib/base/blob.ts";
import { authenticateBy } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import type { FrontOptions } from "../../../lib/front/front.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { testFront } from "../fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving(options: Partial<FrontOptions> = {}) {
  const test = testFront(options);
  const server = await serveGrpc(test.front, 0);
  closing.push(server.close, test.front.close);
  const client = createClient(Health, createGrpcTransport({ baseUrl: server.url }));
  const publish = () => test.publish(worldOf({ web: { clusters: { a: "1" } } }));
  return { client, publish, front: test.front };
}

const ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";

describe("gRPC's health check", () => {
  it("says whether anything was published, of the whole server and of each service", async () => {
    const { client, publish } = await serving();
    expect((await client.check({})).status).toBe(Status.NOT_SERVING);
    await publish();
    for (const service of ["", ads, "grpc.health.v1.Health", "portolan.v1.SnapshotService"])
      expect((await client.check({ service })).status).toBe(Status.SERVING);
    await expect(client.check({ service: "shop.Catalog" })).rejects.toThrow("not_found");
  });

  it("says that it does not serve while the snapshot in force cannot be read", async () => {
    const store = memoryStore();
    const { client, publish } = await serving({ store });
    await publish();
    await store.delete(blobKey((await readHead(store))?.head.steps.at(-1)?.root ?? ""));
    expect((await client.check({ service: ads })).status).toBe(Status.NOT_SERVING);
  });

  it("is for everybody, whoever may read", async () => {
    const { client, publish } = await serving({ authentication: authenticateBy("nobody", []) });
    await publish();
    expect((await client.check({ service: ads })).status).toBe(Status.SERVING);
  });

  it("tells a watcher of the first publish and of the end, and of a service that there is not", async () => {
    const { client, publish, front } = await serving();
    const watched = client.watch({ service: ads })[Symbol.asyncIterator]();
    const stranger = client.watch({ service: "shop.Catalog" })[Symbol.asyncIterator]();
    expect((await watched.next()).value?.status).toBe(Status.NOT_SERVING);
    expect((await stranger.next()).value?.status).toBe(Status.SERVICE_UNKNOWN);
    await publish();
    expect((await watched.next()).value?.status).toBe(Status.SERVING);
    front.close();
    expect((await watched.next()).value?.status).toBe(Status.NOT_SERVING);
    expect((await watched.next()).done).toBe(true);
    expect((await stranger.next()).done).toBe(true);
  });
});
