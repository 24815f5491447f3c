import { describe, expect, it } from "vitest";
import { ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { RouteSchema, VirtualHostSchema } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { type Copies, mergeAny, mergeMessage } from "../../../lib/xds/envoy-filter/merge-message.ts";

const append = { replacesLists: false };

describe("mergeMessage", () => {
  it("overwrites scalars and enums, merges messages, and leaves the rest", () => {
    const base = { name: "c", type: "EDS", commonLbConfig: { localityWeightedLbConfig: {} } };
    const patch = { type: "STATIC", commonLbConfig: { healthyPanicThreshold: { value: 5 } } };
    expect(mergeMessage(ClusterSchema, base, patch, append)).toEqual({
      name: "c",
      type: "STATIC",
      commonLbConfig: { localityWeightedLbConfig: {}, healthyPanicThreshold: { value: 5 } },
    });
  });

  it("appends lists, or replaces them when asked to", () => {
    const base = { circuitBreakers: { thresholds: [{ maxRetries: 1 }] } };
    const patch = { circuitBreakers: { thresholds: [{ maxRetries: 2 }] } };
    expect(mergeMessage(ClusterSchema, base, patch, append).circuitBreakers.thresholds).toHaveLength(2);
    expect(mergeMessage(ClusterSchema, base, patch, { replacesLists: true })).toEqual(patch);
  });

  it("takes a wrapper of false or zero for unset, unless there is none", () => {
    const patch = { includeRequestAttemptCount: false, perRequestBufferLimitBytes: 0 };
    const base = { perRequestBufferLimitBytes: 7 };
    expect(mergeMessage(VirtualHostSchema, base, patch, append)).toMatchObject({ perRequestBufferLimitBytes: 7 });
    expect(mergeMessage(VirtualHostSchema, {}, patch, append)).toMatchObject({ perRequestBufferLimitBytes: 0 });
  });

  it("replaces a duration as a whole", () => {
    expect(mergeMessage(ClusterSchema, { connectTimeout: "1.500s" }, { connectTimeout: "3s" }, append)).toEqual({
      connectTimeout: "3s",
    });
  });

  it("keeps one member of a oneof", () => {
    const base = { name: "r", match: { prefix: "/" }, route: { cluster: "a", timeout: "1s" } };
    expect(mergeMessage(RouteSchema, base, { redirect: { pathRedirect: "/x" } }, append)).toEqual({
      name: "r",
      match: { prefix: "/" },
      redirect: { pathRedirect: "/x" },
    });
    expect(mergeMessage(RouteSchema, base, { route: { clusterHeader: "h" } }, append).route).toEqual({
      clusterHeader: "h",
      timeout: "1s",
    });
  });

  it("merges maps by key, their messages as a whole", () => {
    const any = (name: string) => ({ "@type": "type.googleapis.com/google.protobuf.StringValue", value: name });
    const base = {
      metadata: { filterMetadata: { istio: { a: 1 }, other: { c: 1 } } },
      typedPerFilterConfig: { f: any("a") },
    };
    const patch = { metadata: { filterMetadata: { istio: { b: 2 } } }, typedPerFilterConfig: { g: any("b") } };
    expect(mergeMessage(RouteSchema, base, patch, append)).toEqual({
      metadata: { filterMetadata: { istio: { b: 2 }, other: { c: 1 } } },
      typedPerFilterConfig: { f: any("a"), g: any("b") },
    });
  });

  it("changes neither side", () => {
    const base = Object.freeze({ name: "c" });
    const patch = Object.freeze({ name: "d" });
    mergeMessage(ClusterSchema, base, patch, append);
    expect([base, patch]).toEqual([{ name: "c" }, { name: "d" }]);
  });
});

describe("many merges into one resource", () => {
  const base = Object.freeze({
    name: "c",
    metadata: Object.freeze({ filterMetadata: Object.freeze({ a: { x: 1 } }) }),
  });
  const patches = Array.from({ length: 20 }, (_, at) => ({
    metadata: { filterMetadata: { [`k${at}`]: { at } } },
    circuitBreakers: { thresholds: [{ maxRequests: at }] },
  }));

  it("come to what each would come to by itself, and change neither the base nor a patch", () => {
    const written = JSON.stringify(patches);
    const copies: Copies = new WeakSet();
    const apart = patches.reduce<object>((json, patch) => mergeMessage(ClusterSchema, json, patch, append), base);
    const together = patches.reduce<object>(
      (json, patch) => mergeMessage(ClusterSchema, json, patch, append, copies),
      base,
    );
    expect(JSON.stringify(together)).toBe(JSON.stringify(apart));
    expect(JSON.stringify(patches)).toBe(written);
    expect(Object.keys(base.metadata.filterMetadata)).toEqual(["a"]);
  });

  it("extend what the first of them has copied, instead of copying it for each", () => {
    const copies: Copies = new WeakSet();
    const first = mergeMessage<object>(ClusterSchema, base, patches[0] ?? {}, append, copies);
    const second = mergeMessage<object>(ClusterSchema, first, patches[1] ?? {}, append, copies);
    const lists = ["circuitBreakers", "metadata"].map((name) => [Reflect.get(first, name), Reflect.get(second, name)]);
    expect(second).toBe(first);
    for (const [before, after] of lists) expect(after).toBe(before);
  });

  it("take a field that is named as the prototype of objects is for a field", () => {
    const patch = { metadata: { filterMetadata: JSON.parse('{"__proto__": {"x": 1}}') } };
    const merged = mergeMessage<object>(ClusterSchema, base, patch, append);
    expect(JSON.stringify(merged)).toContain('"__proto__":{"x":1}');
  });
});

describe("mergeAny", () => {
  const router = (parts: object) => ({
    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
    ...parts,
  });

  it("merges inside two configurations of one type", () => {
    expect(mergeAny(router({ startChildSpan: true }), router({ suppressEnvoyHeaders: true }))).toEqual(
      router({ startChildSpan: true, suppressEnvoyHeaders: true }),
    );
  });

  it.each([
    ["another type", { "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors" }],
    ["no type", {}],
  ])("does not merge with %s", (_case, patch) => {
    expect(mergeAny(router({}), patch)).toBeUndefined();
  });

  it("does not merge two of a type that is not known", () => {
    const own = { "@type": "type.googleapis.com/example.Own" };
    expect(mergeAny(own, own)).toBeUndefined();
  });
});
