import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { ClustersConfigDumpSchema, RoutesConfigDumpSchema } from "../../../gen/envoy/admin/v3/config_dump_shared_pb.ts";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import type { DiscoveryResponse } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { ClientConfigSchema, ConfigStatus } from "../../../gen/envoy/service/status/v3/csds_pb.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { openStream, withBinary } from "../ads/streams.ts";
import { testFront } from "../fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const nodeCaller = (namespace: string, pod?: string): Caller => ({
  kind: "node",
  subject: `system:serviceaccount:${namespace}:default`,
  namespace,
  ...(pod === undefined ? {} : { pod }),
});
const callers: Readonly<Record<string, Caller>> = {
  operator: { kind: "operator", subject: "ops" },
  web: nodeCaller("default", "web"),
  api: nodeCaller("default", "api"),
  stranger: nodeCaller("istio-system"),
};

/** A server with one proxy on a stream, web.default, which has accepted its clusters and refused its listeners. */
async function serving() {
  const store = memoryStore();
  const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 60_000, limits, onError() {} });
  const authentication = authenticateBy("test", [
    ({ header }) => {
      const caller = callers[header("x-who") ?? ""];
      return caller === undefined ? undefined : identified(caller);
    },
  ]);
  const test = testFront({ store, nodes, authentication });
  await test.publish(
    withBinary(worldOf({ web: { clusters: { a: "1", b: "1" }, listeners: { l: "1" }, routes: { r: "1" } } })),
  );
  const { url, close } = await serveGrpc(test.front, 0);
  closing.push(close, test.front.close);
  const proxy = openStream(url, "sotw", { "x-who": "web" });
  closing.push(proxy.close);
  proxy.ask({ type: "clusters" });
  const clusters = await proxy.next();
  proxy.ask({ type: "clusters", version: clusters.version, nonce: clusters.nonce });
  proxy.ask({ type: "listeners" });
  const listeners = await proxy.next();
  proxy.ask({ type: "listeners", nonce: listeners.nonce, error: "no such filter" });
  await proxy.isQuiet();
  return url;
}

/** The first answer to a question, as istioctl asks it. */
async function ask(
  url: string,
  who: string,
  typeUrl: string,
  resourceNames: readonly string[] = [],
): Promise<DiscoveryResponse> {
  const client = createClient(AggregatedDiscoveryService, createGrpcTransport({ baseUrl: url }));
  const ending = new AbortController();
  async function* requests() {
    yield { node: { id: "sidecar~192.0.2.1~istioctl~default" }, typeUrl, resourceNames: [...resourceNames] };
    await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
  }
  try {
    const answers = client.streamAggregatedResources(requests(), { headers: { "x-who": who }, signal: ending.signal });
    for await (const answer of answers) return answer;
    throw new Error("no answer");
  } finally {
    ending.abort();
  }
}

const syncz = "istio.io/debug/syncz";
const dump = "istio.io/debug/config_dump";

describe("what istioctl asks over a stream", () => {
  it("is told to an operator of every proxy, by type", async () => {
    const { typeUrl, resources, controlPlane } = await ask(await serving(), "operator", syncz);
    expect(typeUrl).toBe(syncz);
    expect(JSON.parse(controlPlane?.identifier ?? "")).toMatchObject({ Component: "portolan" });
    const [config, ...others] = resources.map(({ value }) => fromBinary(ClientConfigSchema, value));
    expect(others).toEqual([]);
    expect(config?.node).toMatchObject({ id: "web.default", metadata: { NAMESPACE: "default" } });
    expect(
      config?.genericXdsConfigs.map(({ typeUrl: url, configStatus, errorState }) => [
        url.split(".").at(-1),
        configStatus,
        errorState?.details,
      ]),
    ).toEqual([
      ["Cluster", ConfigStatus.SYNCED, undefined],
      ["Listener", ConfigStatus.ERROR, "no such filter"],
    ]);
  });

  it("is told to a workload of itself alone", async () => {
    const url = await serving();
    expect((await ask(url, "web", syncz)).resources).toHaveLength(1);
    expect((await ask(url, "web", dump, ["web.default"])).resources).toHaveLength(4);
    for (const who of ["api", "stranger"]) {
      await expect(ask(url, who, syncz)).rejects.toThrow("may read of no proxy");
      await expect(ask(url, who, dump, ["web.default"])).rejects.toThrow("not_found");
    }
    await expect(ask(url, "nobody", syncz)).rejects.toThrow("unauthenticated");
  });

  it("has a dump of what is served, with the resources as they are sent", async () => {
    const url = await serving();
    const { resources } = await ask(url, "operator", dump, ["web.default"]);
    expect(resources.map(({ typeUrl }) => typeUrl.split(".").at(-1))).toEqual([
      "ClustersConfigDump",
      "ListenersConfigDump",
      "RoutesConfigDump",
      "EndpointsConfigDump",
    ]);
    const textOf = (value: Uint8Array | undefined) => new TextDecoder().decode(value);
    const [clusters, , routes] = resources.map(({ value }) => value);
    expect(
      fromBinary(ClustersConfigDumpSchema, clusters ?? new Uint8Array()).dynamicActiveClusters.map(({ cluster }) =>
        textOf(cluster?.value),
      ),
    ).toEqual(["a=1", "b=1"]);
    expect(
      fromBinary(RoutesConfigDumpSchema, routes ?? new Uint8Array()).dynamicRouteConfigs.map(({ routeConfig }) =>
        textOf(routeConfig?.value),
      ),
    ).toEqual(["r=1"]);
  });

  it("is refused with a reason where it is of no proxy, of several, or of no known type", async () => {
    const url = await serving();
    await expect(ask(url, "operator", dump, ["db.default"])).rejects.toThrow('no proxy "db.default"');
    await expect(ask(url, "operator", dump)).rejects.toThrow("exactly one name");
    await expect(ask(url, "operator", dump, ["a", "b"])).rejects.toThrow("exactly one name");
    await expect(ask(url, "operator", "istio.io/debug/registryz", ["x"])).rejects.toThrow("none of syncz");
  });

  it("lists what there is for what there is not, as JSON that istioctl prints", async () => {
    const url = await serving();
    const textOf = async (name: string) => {
      const [first] = (await ask(url, "operator", "istio.io/debug", [name])).resources;
      return new TextDecoder().decode(first?.value);
    };
    expect(JSON.parse(await textOf("list"))).toEqual(["syncz"]);
    expect(await textOf("registryz")).toBe("404 page not found");
    expect(JSON.parse(await textOf("syncz"))).toMatchObject([{ proxy: "web.default", proxy_type: "sidecar" }]);
  });
});
