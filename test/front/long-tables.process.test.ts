/** Route tables of 64 KiB and more are versioned, stored and sent in pieces: every way to read one must give the same table. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AggregatedDiscoveryService } from "../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { folderSource } from "../../lib/agent/source/folder-source.ts";
import { createFrontClient } from "../../lib/agent/source/front-client.ts";
import { frontSource } from "../../lib/agent/source/front-source.ts";
import { createGenerationKeeper } from "../../lib/agent/source/generation.ts";
import { heldTypes, type WholeHoldings } from "../../lib/agent/source/resources.ts";
import { againstSignedHead } from "../../lib/agent/source/signed-head.ts";
import type { Source } from "../../lib/agent/source/source.ts";
import { proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { type CompiledResource, type CompiledWorld, resourcesIn } from "../../lib/snapshot/compiled.ts";
import { exportSnapshot } from "../../lib/snapshot/head/head-operations.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { hasChunks } from "../../lib/snapshot/long/long-resource.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { shortPort, wideMesh } from "../wide-mesh.ts";

const services = 1_000;
const longTable = "80";
const binaryOf = ({ binary }: CompiledResource): Buffer => Buffer.from(binary ?? []);

async function openWide() {
  const files = [wideMesh({ services })];
  const [client] = proxiesIn(files);
  if (client === undefined) throw new Error("the mesh has a client");
  const compile = createFileCompiler({
    ...defaultWorldOptions,
    certificates: "none",
    binaryForms: true,
    legacyApi: "0.8",
  });
  const world: CompiledWorld = compile(files, []).value;
  const signer = await makeSigningKey("roots");
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, signer });
  await publisher.publish(world, undefined);
  const front = createFront({ store, maxHoldMs: 25_000, headTtlMs: 50 });
  const [http, grpc] = [await serveHttp(frontApp(front), 0), await serveGrpc(front, 0)];
  const { proxy } = client;
  const node = {
    id: `sidecar~${proxy.addresses[0]}~${proxy.id}~${proxy.namespace}.svc.cluster.local`,
    cluster: "client.wide",
    metadata: { NAMESPACE: proxy.namespace, LABELS: { app: "client" } },
  };
  return {
    world,
    store,
    signer,
    trusted: [publicPart(signer)],
    node,
    http: http.url,
    grpc: grpc.url,
    async close() {
      front.close();
      await Promise.all([http.close(), grpc.close()]);
    },
  };
}

describe("a mesh of 1,000 services", () => {
  let wide: Awaited<ReturnType<typeof openWide>>;
  let folder: string;

  beforeAll(async () => {
    wide = await openWide();
    folder = await mkdtemp(join(tmpdir(), "portolan-wide-"));
  });
  afterAll(async () => {
    await wide.close();
    await rm(folder, { recursive: true });
  });

  /** The table as it was compiled, for those who poll or for streams. */
  function compiled(shape: "poll" | "stream"): CompiledResource {
    const tables = wide.world.classes.flatMap((one) => resourcesIn(one[shape].routes));
    const table = tables.find((resource) => resource.name === longTable && hasChunks(resource));
    if (table === undefined) throw new Error("no class has a long table");
    return table;
  }
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${wide.http}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "connect-protocol-version": "1" },
      body: JSON.stringify({ node: wide.node, type_url: typeUrlOf("routes"), ...body }),
    });
    expect(answer.status).toBe(200);
    const said: { readonly resources: readonly (object & { readonly name?: string; readonly resource?: object })[] } =
      JSON.parse(await answer.text());
    return said;
  };
  /** Starts a source and gives what it says first. @throws what keeps it from saying anything */
  const holdingsOf = async (source: Source): Promise<WholeHoldings> => {
    try {
      return await new Promise<WholeHoldings>((changed, failed) => {
        source.start({ changed, trouble: (why) => failed(new Error(why)), reached() {} });
      });
    } finally {
      source.close();
    }
  };
  const types = heldTypes(false);

  it("has a long table behind a short one, for every proxy that sees it", () => {
    for (const shape of ["poll", "stream"] as const) {
      const names = wide.world.classes.map((one) => resourcesIn(one[shape].routes).map(({ name }) => name));
      expect(names).toContainEqual(expect.arrayContaining([String(shortPort), longTable]));
      expect(compiled(shape).text.length).toBeGreaterThan(64 * 1024);
    }
  });

  it("gives the whole table to a poll", async () => {
    const { resources } = await post("/v3/discovery:routes", { resource_names: [longTable] });
    expect(JSON.stringify(resources)).toBe(`[${compiled("poll").text}]`);
  });

  it("gives the whole table to DeltaFetch, with all others", async () => {
    const { resources } = await post("/portolan.v1.SnapshotService/DeltaFetch", {});
    const table = resources.find(({ name }) => name === longTable);
    expect(JSON.stringify(table?.resource)).toBe(compiled("stream").text);
  });

  it("gives the whole table to a delta stream and to one of the state of the world", async () => {
    const client = createClient(AggregatedDiscoveryService, createGrpcTransport({ baseUrl: wide.grpc }));
    const names = [longTable, String(shortPort)];
    const node = { id: wide.node.id, cluster: wide.node.cluster, metadata: wide.node.metadata };
    const typeUrl = typeUrlOf("routes");
    const never = new Promise<never>(() => {});
    async function* once<T>(message: T) {
      yield message;
      await never;
    }
    const told: Record<string, readonly (readonly [string, Uint8Array])[]> = {};
    for await (const { resources } of client.deltaAggregatedResources(
      once({ node, typeUrl, resourceNamesSubscribe: names }),
    )) {
      told.delta = resources.map(({ name, resource }) => [name, resource?.value ?? new Uint8Array()]);
      break;
    }
    for await (const { resources } of client.streamAggregatedResources(once({ node, typeUrl, resourceNames: names }))) {
      told.whole = resources.map(({ value }, at) => [names.toSorted()[at] ?? "", value]);
      break;
    }
    const want = binaryOf(compiled("stream"));
    for (const kind of ["delta", "whole"]) {
      const values = told[kind]?.map(([, value]) => Buffer.from(value)) ?? [];
      expect([kind, values.length, values.some((value) => value.equals(want))]).toEqual([kind, 2, true]);
    }
  });

  it("is what an agent holds that follows a front, verified by a signed HEAD", async () => {
    const client = createFrontClient({ url: wide.http });
    const generation = await createGenerationKeeper(folder, true);
    const verify = againstSignedHead({ client, node: wide.node, trusted: wide.trusted, generation, types });
    const holdings = await holdingsOf(frontSource({ client, node: wide.node, holdMs: 1_000, types, verify }));
    expect(holdings.routes.resources.get(longTable)?.text).toBe(compiled("stream").text);
  });

  it("is what an agent holds that reads an exported folder", async () => {
    await exportSnapshot(wide.store, fileStore(folder), { signer: wide.signer });
    const generation = await createGenerationKeeper(folder, true);
    const { node, trusted } = wide;
    const holdings = await holdingsOf(folderSource({ folder, node, trusted, generation, types }));
    expect(holdings.routes.resources.get(longTable)?.text).toBe(compiled("stream").text);
  });

  it("names every service in the table of the v1 API", async () => {
    const answer = await fetch(`${wide.http}/v1/routes/80/client.wide/${encodeURIComponent(wide.node.id)}`);
    expect(answer.status).toBe(200);
    const table: { readonly virtual_hosts: readonly { readonly name: string }[] } = JSON.parse(await answer.text());
    const named = new Set(table.virtual_hosts.map(({ name }) => name.split("|")[0]));
    expect(
      Array.from({ length: services }, (_, at) => at).filter(
        (at) => ![...named].some((name) => name?.startsWith(`app-${at}.wide`)),
      ),
    ).toEqual([]);
  });
});
