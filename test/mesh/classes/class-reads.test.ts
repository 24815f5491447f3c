import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { project } from "../../../lib/base/classifier.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { claimsOf } from "../../../lib/mesh/classes/claims.ts";
import { classify } from "../../../lib/mesh/classes/classify.ts";
import type { Proxy } from "../../../lib/mesh/proxy/proxy.ts";
import type { ClassProxyConfig } from "../../../lib/mesh/views/views.ts";
import { viewsOf } from "../../../lib/mesh/views/views-of.ts";
import type { World } from "../../../lib/mesh/world.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { propertyRuns } from "../../soak-options.ts";
import { config, sidecar } from "../parts.ts";
import { type RandomWorld, randomWorld, worldOf } from "../random-world.ts";

const compat = fc.constantFrom<World["compat"]>("istio", "shared");

/** Metadata that Istio's agents send, and some that nobody has heard of. */
const keys =
  "ANNOTATIONS APP_CONTAINERS CLUSTER_ID DNS_CAPTURE ENVOY_PROMETHEUS_PORT ENVOY_STATUS_PORT GENERATOR HTTP10 HTTP_PROXY_PORT IDLE_TIMEOUT INBOUND_LISTENER_EXACT_BALANCE INTERCEPTION_MODE ISTIO_VERSION MESH_ID NETWORK NODE_NAME OUTBOUND_LISTENER_EXACT_BALANCE OWNER REQUESTED_NETWORK_VIEW ROUTER_MODE SERVICE_ACCOUNT SOMETHING_ELSE TLS_CLIENT_KEY TLS_SERVER_CERT_CHAIN UNPRIVILEGED_POD WORKLOAD_NAME".split(
    " ",
  );
const metadata = fc.dictionary(
  fc.constantFrom(...keys),
  fc.constantFrom<unknown>("true", "15021", "TPROXY", "sni-dnat", "network-1", "5s", { a: "b" }, 1, ["x"]),
  { maxKeys: 4 },
);
const proxyConfig = fc.record(
  { concurrency: fc.nat(3), tracing: fc.constant({ zipkin: { address: "z:9411" } }), serviceCluster: fc.constant("c") },
  { requiredKeys: [] },
);
const labels = fc.dictionary(
  fc.constantFrom("app", "version", "noise", "service.istio.io/canonical-name", "topology.istio.io/network"),
  fc.constantFrom("x", "y"),
  { maxKeys: 3 },
);

/** A world whose proxies say a lot of themselves; each comes with a second one that says something else. */
const talking = fc
  .tuple(randomWorld, fc.array(fc.tuple(metadata, proxyConfig, labels), { minLength: 4, maxLength: 8 }))
  .map(([parts, said]): RandomWorld => {
    const proxies = parts.proxies.flatMap((proxy, at) =>
      [0, 1].map((turn) => {
        const [raw = {}, own = {}, more = {}] = said[(2 * at + turn) % said.length] ?? [];
        return {
          ...proxy,
          name: `${proxy.name}-${turn}`,
          ip: `10.1.${at}.${turn + 1}`,
          labels: { ...proxy.labels, ...more },
          metadata: { ...raw, PROXY_CONFIG: own },
        };
      }),
    );
    return { ...parts, proxies };
  });

function classesOf(of: World) {
  const memo = createMemo();
  const mesh = buildMesh(of, memo).value;
  return { mesh, classified: classify(mesh, of.proxies, memo).value };
}

const bytes = (mesh: ReturnType<typeof classesOf>["mesh"], proxy: Proxy): string =>
  JSON.stringify(generate(mesh, proxy, createMemo()).value);

describe("what is read of nodes", () => {
  it("is all that tells their answers apart: those with one projection have the same bytes", () => {
    fc.assert(
      fc.property(talking, compat, (parts, form) => {
        const of = worldOf(parts, form);
        const { mesh, classified } = classesOf(of);
        const seen = new Map<string, string>();
        for (const proxy of of.proxies) {
          const projection = project(classified.classifier, claimsOf(proxy)) ?? "";
          // In the table stand those whose class follows from what they say.
          if (classified.classifier.classes[projection] === undefined) continue;
          const made = bytes(mesh, proxy);
          expect(seen.get(projection) ?? made).toBe(made);
          seen.set(projection, made);
        }
      }),
      { numRuns: propertyRuns(120) },
    );
  });

  it("is the same whatever was asked before", () => {
    fc.assert(
      fc.property(talking, talking, compat, (before, after, form) => {
        const memo = createMemo();
        const first = worldOf(before, form);
        classify(buildMesh(first, memo).value, first.proxies, memo);
        const of = worldOf(after, form);
        const warm = classify(buildMesh(of, memo).value, of.proxies, memo).value;
        const fresh = classesOf(of).classified;
        expect(warm.classifier).toEqual(fresh.classifier);
        expect(warm.nodes).toEqual(fresh.nodes);
        expect(warm.classes.ids).toEqual(fresh.classes.ids);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it("gives no two selections of one mesh the same name", () => {
    fc.assert(
      fc.property(talking, compat, (parts, form) => {
        const { classified } = classesOf(worldOf(parts, form));
        for (const id of classified.classes.ids) expect(id).toMatch(/^(sidecar|router)-[0-9a-f]{24}$/);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it("always has the service account, in the projection and in the index: who proves one gets no other's class", () => {
    const of = (name: string, serviceAccount: string) => ({
      ...sidecar(`${name}.ns1`, { app: "x" }),
      name,
      metadata: { SERVICE_ACCOUNT: serviceAccount },
    });
    const proxies = [of("a", "one"), of("b", "two")];
    const { classified } = classesOf(worldOf({ services: [], configs: [], proxies }, "shared"));
    expect(classified.classifier.attributes).toContain("metadata:SERVICE_ACCOUNT");
    expect(Object.keys(classified.classifier.classes)).toHaveLength(2);
    expect(classified.nodes.map(({ keys }) => keys.at(-1))).toEqual(["one/a.ns1", "two/b.ns1"]);
  });

  it("begins with what objects ask for: a metadata key that a patch matches, a label that a selector names", () => {
    const proxies = [sidecar("p.ns1", { app: "x", tier: "a" })];
    const read = (configs: RandomWorld["configs"]) =>
      classesOf(worldOf({ services: [], configs, proxies }, "shared")).classified.classifier;
    const none = read([]);
    expect(none.attributes).not.toContain("metadata:FLAVOUR");
    expect(none.labels).toEqual({});
    const some = read([
      config("EnvoyFilter", "ns1/f", {
        workloadSelector: { labels: { tier: "a" } },
        configPatches: [
          { applyTo: "CLUSTER", match: { proxy: { metadata: { FLAVOUR: "mint" } } }, patch: { operation: "MERGE" } },
        ],
      }),
    ]);
    expect(some.attributes).toContain("metadata:FLAVOUR");
    expect(some.labels).toEqual({ "*": { keys: ["tier"] } });
  });
});

describe("what a generator may read of a proxy", () => {
  it("holds nothing of the proxy but what was asked", () => {
    const of = worldOf({ services: [], configs: [], proxies: [sidecar("p.ns1", { app: "x" })] }, "shared");
    const [proxy] = of.proxies;
    if (proxy === undefined) throw new Error("no proxy");
    const views = viewsOf(buildMesh(of, noMemo).value, proxy, noMemo);
    const reachable = new Set<unknown>();
    const visit = (value: unknown): void => {
      if (typeof value !== "object" || value === null || reachable.has(value)) return;
      reachable.add(value);
      for (const inner of value instanceof Map ? value.values() : Object.values(value)) visit(inner);
    };
    visit(views);
    expect(reachable.size).toBeGreaterThan(20);
    for (const hidden of [proxy, proxy.metadata, proxy.metadata.raw, proxy.labels]) {
      expect(reachable.has(hidden)).toBe(false);
    }
  });

  it("says so in its type: a setting that no class asks for does not compile", () => {
    const setting = (of: ClassProxyConfig): unknown =>
      // @ts-expect-error a generator that reads the concurrency has to make it a part of the class first
      of.concurrency;
    expect(setting({})).toBeUndefined();
  });
});
