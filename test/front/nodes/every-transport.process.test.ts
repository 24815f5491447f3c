import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { SecretDiscoveryService } from "../../../gen/envoy/service/secret/v3/sds_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { binarySecrets } from "../../../lib/front/connect/secret-call.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { type ServedType, urlOfServed } from "../../../lib/streams/served-type.ts";
import { resource } from "../../snapshot/worlds.ts";
import { openStream, withBinary } from "../ads/streams.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { worldNaming } from "../naming-world.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const shop = "kubernetes://shop";

/** A front with every transport, and what another one says of its nodes, by what this one has written to the store. */
async function fronts() {
  const store = memoryStore();
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  await secrets.put({ namespace: "default", name: "shop" }, { values: { "tls.crt": btoa("c"), "tls.key": btoa("k") } });
  const caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" } as const;
  const nodesOf = (front: string) => {
    const nodes = recordedNodes(store, { front, now: Date.now, everyMs: 3_600_000, limits, onError: () => {} });
    ends.push(nodes.close);
    return nodes;
  };
  const [nodes, elsewhere] = [nodesOf("a"), nodesOf("b")];
  const authentication = authenticateBy("test", [async () => identified(caller)]);
  const test = testFront({ store, secrets, nodes, authentication });
  const clusters = [[resource("clusters", "c", "1")]];
  const world = worldNaming(shop);
  const classes = world.classes.map((one) => ({
    ...one,
    poll: { ...one.poll, clusters },
    stream: { ...one.stream, clusters },
  }));
  await test.publish(withBinary({ ...world, classes }));
  const app = frontApp(test.front);
  mountConnect(app, test.front, binarySecrets);
  const [http, grpc] = [await serveHttp(app, 0), await serveGrpc(test.front, 0)];
  ends.push(() => test.front.close(), http.close, grpc.close);
  return {
    http: http.url,
    grpc: grpc.url,
    request: test.request,
    async toldElsewhere() {
      await nodes.write();
      const { nodes: told } = await elsewhere.report({ part: "", limit: 10 });
      return told.map(({ node, class: classId, resources }) => [
        node,
        classId,
        ...resources.map(({ type, name, transport }) => `${type} ${name ?? ""} ${transport}`),
      ]);
    },
  };
}

type Fronts = Awaited<ReturnType<typeof fronts>>;
/** Takes a type once, and says then that it has it. */
type Take = (fronts: Fronts, type: ServedType) => Promise<void>;

const namesOf = (type: ServedType) => (type === "secrets" ? [shop] : []);

const restPoll: Take = async ({ request }, type) => {
  const names = { resource_names: namesOf(type) };
  const ask = (version_info?: string) =>
    request(`/v3/discovery:${type}`, {
      method: "POST",
      body: JSON.stringify({ node: nodeOf("web"), version_info, ...names }),
    });
  await ask(JSON.parse(await (await ask()).text()).version_info);
};

const restDelta =
  (query: string): Take =>
  async ({ request }, type) => {
    const names = { resource_names_subscribe: namesOf(type) };
    const ask = (response_nonce?: string) => {
      const body = JSON.stringify({ node: nodeOf("web"), response_nonce, ...names });
      return request(`/v3/delta:${type}${query}`, { method: "POST", body });
    };
    await ask(JSON.parse(await (await ask()).text()).nonce);
  };

const node = { id: nodeOf("web").id, metadata: { NAMESPACE: "default" } };

const rpcDelta =
  (transport: (to: Fronts) => Transport): Take =>
  async (to, type) => {
    const client = createClient(SnapshotService, transport(to));
    const asked = { node, typeUrl: urlOfServed(type), resourceNamesSubscribe: namesOf(type) };
    const { nonce } = await client.deltaFetch(asked);
    await expect(client.deltaFetch({ ...asked, responseNonce: nonce })).rejects.toThrow("current");
  };

const rpcFetch =
  (transport: (to: Fronts) => Transport): Take =>
  async (to, type) => {
    const asked = { node, typeUrl: urlOfServed(type), resourceNames: namesOf(type) };
    const ask = (versionInfo: string) =>
      type === "secrets"
        ? createClient(SecretDiscoveryService, transport(to)).fetchSecrets({ ...asked, versionInfo })
        : createClient(ClusterDiscoveryService, transport(to)).fetchClusters({ ...asked, versionInfo });
    const { versionInfo } = await ask("");
    await expect(ask(versionInfo)).rejects.toThrow("current");
  };

const adsStream =
  (kind: "sotw" | "delta"): Take =>
  async ({ grpc, toldElsewhere }, type) => {
    const on = openStream(grpc, kind);
    ends.push(on.close);
    on.ask({ type, names: namesOf(type) });
    const { nonce } = await on.next();
    const names = kind === "delta" ? [] : namesOf(type);
    // Whoever says something else has not taken the answer yet.
    on.ask({ type, names, nonce: "another" });
    expect(await on.isQuiet()).toBe(true);
    expect(await toldElsewhere()).toEqual([]);
    on.ask({ type, names, nonce });
    await on.isQuiet();
  };

const binary = ({ http: baseUrl }: Fronts) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true });
const web = ({ http: baseUrl }: Fronts) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
const rpc = ({ grpc: baseUrl }: Fronts) => createGrpcTransport({ baseUrl });

describe.each<readonly [string, string, Take]>([
  ["REST", "poll", restPoll],
  ["REST, delta", "delta", restDelta("")],
  ["REST, delta in the shape of polls", "poll", restDelta("?shape=poll")],
  ["Connect in binary", "poll", rpcFetch(binary)],
  ["gRPC-Web", "poll", rpcFetch(web)],
  ["unary gRPC", "poll", rpcFetch(rpc)],
  ["DeltaFetch over Connect", "delta", rpcDelta(binary)],
  ["DeltaFetch over gRPC-Web", "delta", rpcDelta(web)],
  ["DeltaFetch over gRPC", "delta", rpcDelta(rpc)],
  ["ADS, state of the world", "stream", adsStream("sotw")],
  ["ADS, delta", "delta", adsStream("delta")],
])("what a node has over %s", (transport, told, take) => {
  it.each<ServedType>(["clusters", "secrets"])("is known of its %s, in one list over several fronts", async (type) => {
    const to = await fronts();
    await take(to, type);
    // A poll names the secret that it is about; a delta, like a stream, is about all that its reader wants.
    const isNamed = type === "secrets" && (transport === "REST" || !/[dD]elta|ADS/.test(transport));
    const name = isNamed ? shop : "";
    await expect.poll(to.toldElsewhere).toEqual([[node.id, "web", `${type} ${name} ${told}`]]);
  });
});
