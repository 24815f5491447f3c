import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../lib/mesh/memo/memo.ts";
import type { ClassResources } from "../../lib/xds/resource.ts";
import { pollShape, restSource } from "../../lib/xds/shape.ts";

const ads = { ads: {}, resourceApiVersion: "V3" };

const stream: ClassResources = {
  clusters: [
    { name: "a", json: { name: "a", type: "EDS", edsClusterConfig: { serviceName: "a", edsConfig: ads } }, from: [] },
    { name: "b", json: { name: "b", type: "ORIGINAL_DST", transportSocket: { sds: [{ sdsConfig: ads }] } }, from: [] },
    { name: "c", json: { name: "c", type: "STATIC" }, from: [] },
  ],
  endpoints: [{ name: "a", json: { clusterName: "a", endpoints: [{ locality: {} }] }, from: [] }],
  listeners: [{ name: "l", json: { name: "l", hcm: { rds: { routeConfigName: "80", configSource: ads } } }, from: [] }],
  routes: [{ name: "80", json: { name: "80" }, from: [] }],
};

describe("pollShape", () => {
  it("puts endpoints into their clusters, so that nobody polls for them", () => {
    const poll = pollShape(stream, noMemo);
    expect(poll.clusters[0]?.json).toEqual({
      name: "a",
      type: "STATIC",
      loadAssignment: { clusterName: "a", endpoints: [{ locality: {} }] },
    });
    expect(poll.endpoints).toEqual([]);
  });

  it("leaves no aggregated source anywhere", () => {
    const poll = pollShape(stream, noMemo);
    expect(JSON.stringify(poll)).not.toContain('"ads"');
    expect(poll.listeners[0]?.json).toMatchObject({
      hcm: { rds: { routeConfigName: "80", configSource: restSource } },
    });
    expect(poll.clusters[1]?.json).toMatchObject({ transportSocket: { sds: [{ sdsConfig: restSource }] } });
  });

  it("leaves secrets to the agent, but waits for none of them for ever", () => {
    const agent = { apiConfigSource: { apiType: "GRPC" }, initialFetchTimeout: "0s" };
    const waiting = { name: "w", json: { name: "w", transportSocket: { sdsConfig: agent } }, from: [] };
    expect(pollShape({ ...stream, clusters: [waiting] }, noMemo).clusters[0]?.json).toMatchObject({
      transportSocket: { sdsConfig: { apiConfigSource: { apiType: "GRPC" }, initialFetchTimeout: "5s" } },
    });
  });

  it("keeps the identity of what it has no reason to change", () => {
    const poll = pollShape(stream, noMemo);
    expect(poll.clusters[2]).toBe(stream.clusters[2]);
    expect(poll.routes).toBe(stream.routes);
  });

  it("lets a cluster have a poll of its own", () => {
    const poll = pollShape(stream, noMemo, { separateEndpoints: new Set(["a"]) });
    expect(poll.clusters[0]?.json).toMatchObject({ type: "EDS", edsClusterConfig: { edsConfig: restSource } });
    expect(poll.endpoints).toEqual(stream.endpoints);
  });

  it("gives the same objects again for the same resources", () => {
    const memo = createMemo();
    const first = pollShape(stream, memo);
    const other = { ...stream, clusters: [...stream.clusters] };
    expect(pollShape(stream, memo).clusters).toBe(first.clusters);
    expect(pollShape(other, memo).clusters[0]).toBe(first.clusters[0]);
  });
});
