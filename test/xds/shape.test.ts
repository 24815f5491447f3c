import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";
import { allShared, type ClassResources, type Resource } from "../../lib/xds/resource.ts";
import { pollShape, restSource, streamShape } from "../../lib/xds/shape.ts";

const ads = { ads: {}, resourceApiVersion: "V3" };

const stream: ClassResources = {
  clusters: allShared<Resource>([
    { name: "a", json: { name: "a", type: "EDS", edsClusterConfig: { serviceName: "a", edsConfig: ads } }, from: [] },
    { name: "b", json: { name: "b", type: "ORIGINAL_DST", transportSocket: { sds: [{ sdsConfig: ads }] } }, from: [] },
    { name: "c", json: { name: "c", type: "STATIC" }, from: [] },
  ]),
  endpoints: allShared([{ name: "a", json: { clusterName: "a", endpoints: [{ locality: {} }] }, from: [] }]),
  listeners: allShared([
    { name: "l", json: { name: "l", hcm: { rds: { routeConfigName: "80", configSource: ads } } }, from: [] },
  ]),
  routes: allShared([{ name: "80", json: { name: "80" }, from: [] }]),
};

describe("pollShape", () => {
  it("puts endpoints into their clusters, so that nobody polls for them", () => {
    const poll = pollShape(stream, noMemo);
    expect(poll.clusters.shared[0]?.json).toEqual({
      name: "a",
      type: "STATIC",
      loadAssignment: { clusterName: "a", endpoints: [{ locality: {} }] },
    });
    expect(poll.endpoints.shared).toEqual([]);
  });

  it("leaves no aggregated source anywhere", () => {
    const poll = pollShape(stream, noMemo);
    expect(JSON.stringify(poll)).not.toContain('"ads"');
    expect(poll.listeners.shared[0]?.json).toMatchObject({
      hcm: { rds: { routeConfigName: "80", configSource: restSource() } },
    });
    expect(poll.clusters.shared[1]?.json).toMatchObject({ transportSocket: { sds: [{ sdsConfig: restSource() }] } });
  });

  it("leaves secrets to the agent, but waits for none of them for ever", () => {
    const agent = { apiConfigSource: { apiType: "GRPC" }, initialFetchTimeout: "0s" };
    const waiting = { name: "w", json: { name: "w", transportSocket: { sdsConfig: agent } }, from: [] };
    expect(pollShape({ ...stream, clusters: allShared([waiting]) }, noMemo).clusters.shared[0]?.json).toMatchObject({
      transportSocket: { sdsConfig: { apiConfigSource: { apiType: "GRPC" }, initialFetchTimeout: "5s" } },
    });
  });

  it("keeps the identity of what it has no reason to change", () => {
    const poll = pollShape(stream, noMemo);
    expect(poll.clusters.shared[2]).toBe(stream.clusters.shared[2]);
    expect(poll.routes).toBe(stream.routes);
  });

  it("lets a cluster have a poll of its own", () => {
    const poll = pollShape(stream, noMemo, { separateEndpoints: new Set(["a"]) });
    expect(poll.clusters.shared[0]?.json).toMatchObject({ type: "EDS", edsClusterConfig: { edsConfig: restSource() } });
    expect(poll.endpoints).toEqual(stream.endpoints);
  });

  it("puts endpoints into clusters of one class alone, its own and those that others have too", () => {
    const eds = (name: string) => ({
      name,
      json: { name, type: "EDS", edsClusterConfig: { serviceName: name } },
      from: [],
    });
    const answer = (name: string) => ({ name, json: { clusterName: name }, from: [] });
    const clusters = { shared: [], own: [eds("a"), eds("x")] };
    const endpoints = { shared: [answer("a")], own: [answer("x")] };
    const { own } = pollShape({ ...stream, clusters, endpoints }, noMemo).clusters;
    expect(own.map(({ json }) => json)).toMatchObject([
      { type: "STATIC", loadAssignment: { clusterName: "a" } },
      { type: "STATIC", loadAssignment: { clusterName: "x" } },
    ]);
  });

  it("gives the same objects again for the same resources", () => {
    const memo = createMemo();
    const first = pollShape(stream, memo);
    const other = { ...stream, clusters: allShared([...stream.clusters.shared]) };
    expect(pollShape(stream, memo).clusters.shared).toBe(first.clusters.shared);
    expect(pollShape(other, memo).clusters.shared[0]).toBe(first.clusters.shared[0]);
  });
});

describe("streamShape", () => {
  const remote = { httpUri: { uri: "oci://x/a", cluster: "_" }, sha256: "nil" };
  const typedConfig = {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
    config: { name: "a", vmConfig: { code: { remote } } },
  };
  const withExtension = (more: Partial<Resource>): ClassResources => ({
    ...stream,
    listeners: allShared([{ name: "l", json: { filters: [{ name: "a", configDiscovery: ads }] }, from: [] }]),
    extension_configs: allShared([{ name: "a", json: { name: "a", typedConfig }, from: [], ...more }]),
  });
  const module = "ab".repeat(32);

  it("has code that only Istio's agent fetches from the front, under a name that tells other code apart", () => {
    const { listeners, extension_configs: extensions } = streamShape(withExtension({ module }), noMemo);
    expect(extensions?.shared[0]?.name).toBe("a@abababababababab");
    expect(JSON.stringify(extensions)).toContain(`"uri":"http://portolan/v3/wasm/${module}"`);
    expect(listeners.shared[0]?.json).toEqual({ filters: [{ name: "a@abababababababab", configDiscovery: ads }] });
  });

  it("has a filter in its place that refuses everything until it was fetched", () => {
    expect(JSON.stringify(streamShape(withExtension({}), noMemo).extension_configs)).toContain("wasm-default-deny");
  });

  it("is as Istio writes it where Istio's agent is, which polls have not", () => {
    const istio = withExtension({ module, hasIstioAgent: true });
    const { listeners, extension_configs: extensions } = streamShape(istio, noMemo);
    expect([listeners.shared[0], extensions?.shared[0]]).toEqual([
      istio.listeners.shared[0],
      istio.extension_configs?.shared[0],
    ]);
    expect(pollShape(istio, noMemo).extension_configs?.shared[0]?.name).toBe("a@abababababababab");
  });

  it("is all the same where there is no extension", () => {
    expect(streamShape(stream, noMemo)).toBe(stream);
  });
});
