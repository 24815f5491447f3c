import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { project } from "../../lib/base/classifier.ts";
import { defaultProxyConfig } from "../../lib/config/kinds/mesh-config.ts";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { claimsOf } from "../../lib/mesh/classes/claims.ts";
import { classify } from "../../lib/mesh/classes/classify.ts";
import { eachClass } from "../../lib/mesh/classes/enter-classes.ts";
import { viewsOf } from "../../lib/mesh/views/views-of.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import type { NamedProxy } from "../named-proxy.ts";
import { propertyRuns } from "../soak-options.ts";
import { wholeResources } from "../whole-resources.ts";
import { config, sidecar, type WorldParts, world } from "./parts.ts";
import { type RandomWorld, randomWorld, worldOf } from "./random-world.ts";

const compat = fc.constantFrom<World["compat"]>("istio", "shared");
const runs = { numRuns: propertyRuns(60) };

function workloadProxies(of: World) {
  const memo = createMemo();
  return classify(buildMesh(of, memo).value, of.proxies, memo);
}

/** Every answer for every proxy, each proxy alone: proxy → type → name → bytes. */
type Answers = ReadonlyMap<string, Readonly<Record<ResourceType, ReadonlyMap<string, string>>>>;

function answers(of: World, memo = noMemo): Answers {
  const mesh = buildMesh(of, memo).value;
  return new Map(
    of.proxies.map((proxy) => {
      const resources = wholeResources(generate(mesh, proxy, memo).value);
      const byName = (type: ResourceType) =>
        new Map(resources[type].map(({ name, json }) => [name, JSON.stringify(json)]));
      return [
        proxy.id,
        {
          clusters: byName("clusters"),
          endpoints: byName("endpoints"),
          listeners: byName("listeners"),
          routes: byName("routes"),
          extension_configs: byName("extension_configs"),
          name_tables: byName("name_tables"),
        },
      ];
    }),
  );
}

describe("views of a proxy", () => {
  it("have equal keys only where the bytes are equal", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const of = worldOf(parts, form);
        const mesh = buildMesh(of, noMemo).value;
        const bytes = answers(of);
        const byKey = new Map<string, string>();
        const same = (key: string, made: string) => {
          expect(byKey.get(key) ?? made).toBe(made);
          byKey.set(key, made);
        };
        for (const proxy of of.proxies) {
          const views = viewsOf(mesh, proxy, createMemo());
          for (const type of resourceTypes) {
            const made = bytes.get(proxy.id)?.[type] ?? new Map<string, string>();
            // Which load assignments and route tables there are is for clusters and listeners to say.
            if (type === "clusters" || type === "listeners")
              same(`${type}|${views[type].key()}`, [...made.keys()].join());
            for (const [name, text] of made) same(`${type}|${views[type].key()}|${name}`, text);
          }
        }
      }),
      runs,
    );
  });

  it("do not change with a label that no selector mentions", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const noisy = parts.proxies.map((proxy) => ({ ...proxy, labels: { ...proxy.labels, noise: proxy.name } }));
        const keys = (named: RandomWorld["proxies"]) => {
          const of = worldOf({ ...parts, proxies: named }, form);
          const memo = createMemo();
          const mesh = buildMesh(of, memo).value;
          const classified = classify(mesh, of.proxies, memo).value;
          return { classes: classified.nodes.map(({ classId }) => classId), table: classified.classifier.classes };
        };
        expect(keys(noisy)).toEqual(keys(parts.proxies));
      }),
      runs,
    );
  });

  it("are the same objects in the next mesh when nothing changed that they hold", () => {
    fc.assert(
      fc.property(randomWorld, (parts) => {
        const memo = createMemo();
        const of = worldOf(parts, "shared");
        const hidden = [
          config("VirtualService", "elsewhere/v", { hosts: ["*"], exportTo: ["."], http: [] }),
          config("DestinationRule", "elsewhere/d", { host: "*", exportTo: ["."] }),
          config("Sidecar", "elsewhere/s", { egress: [{ hosts: ["./*"] }] }),
          config("AuthorizationPolicy", "elsewhere/a", {}),
          config("PeerAuthentication", "elsewhere/p", {
            selector: { matchLabels: { app: "x" } },
            mtls: { mode: "STRICT" },
          }),
          config("Policy", "elsewhere/o", { targets: [{ name: "a" }], peers: [{ mtls: {} }] }),
          config("ServiceRole", "elsewhere/r", { rules: [{ services: ["*"] }] }),
        ];
        const before = buildMesh(of, memo).value;
        const seen = of.proxies.map((proxy) => viewsOf(before, proxy, memo));
        const after = buildMesh({ ...of, configs: [...of.configs, ...hidden] }, memo).value;
        for (const [at, proxy] of of.proxies.entries()) {
          const views = viewsOf(after, proxy, memo);
          expect(views.routes).toBe(seen[at]?.routes);
          expect(views.listeners).toBe(seen[at]?.listeners);
          // Clusters and endpoints name all PeerAuthentications as one.
          expect(views.clusters.key()).toBe(seen[at]?.clusters.key());
          expect(views.endpoints.key()).toBe(seen[at]?.endpoints.key());
        }
      }),
      runs,
    );
  });
});

describe("tracing tags", () => {
  const named = (app: string) => sidecar(`${app}.ns1`, { "service.istio.io/canonical-name": app });
  const classIds = (meshConfig: WorldParts["meshConfig"], form: World["compat"]) => {
    const of = world({
      proxies: [named("a"), named("b")],
      compat: form,
      ...(meshConfig === undefined ? {} : { meshConfig }),
    });
    return new Set(workloadProxies(of).value.nodes.map(({ classId }) => classId));
  };
  const tracing = {
    defaultProviders: { tracing: ["t"] },
    extensionProviders: [{ name: "t", zipkin: { service: "z", port: 1 } }],
  };

  it("tell services apart where something is traced, or in Istio's form", () => {
    expect(classIds(tracing, "shared").size).toBe(2);
    expect(classIds({ defaultConfig: { ...defaultProxyConfig, tracing: { sampling: 1 } } }, "shared").size).toBe(2);
    expect(classIds(undefined, "istio").size).toBe(2);
  });

  it("are shared where nothing is traced", () => {
    expect(classIds(undefined, "shared").size).toBe(1);
  });
});

describe("a memo", () => {
  it("never changes an answer, whatever was compiled before", () => {
    fc.assert(
      fc.property(randomWorld, randomWorld, fc.nat(), compat, (parts, other, drop, form) => {
        const memo = createMemo();
        const kept = parts.configs.filter((_, at) => at !== drop % Math.max(1, parts.configs.length));
        const steps = [
          parts,
          { ...parts, configs: kept },
          { ...parts, configs: [...kept, ...other.configs.slice(0, 1)] },
        ];
        for (const step of steps) {
          const of = worldOf(step, form);
          expect([...answers(of, memo)]).toEqual([...answers(of)]);
        }
      }),
      runs,
    );
  });
});

describe("the class of a proxy", () => {
  it("is that of its own views, although only one of many alike proxies is looked at", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const of = worldOf({ ...parts, proxies: [...parts.proxies, ...parts.proxies.map(twin)] }, form);
        const memo = createMemo();
        const mesh = buildMesh(of, memo).value;
        const { classes, nodes } = classify(mesh, of.proxies, memo).value;
        for (const [at, proxy] of of.proxies.entries()) {
          const found = eachClass(classes).find(({ id }) => id === nodes[at]?.classId);
          const own = viewsOf(mesh, proxy, memo);
          for (const type of resourceTypes) expect(found?.views[type].key()).toBe(own[type].key());
        }
      }),
      runs,
    );
  });
});

/** The same proxy under another name and address. */
const twin = (proxy: NamedProxy, at: number): NamedProxy => ({
  ...proxy,
  name: `${proxy.name}-twin`,
  ip: `10.3.0.${at + 1}`,
});

describe("the classifier", () => {
  it("finds the class of every counted proxy by what the proxy says, or by its name", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const of = worldOf(parts, form);
        const { classifier, nodes, classes } = workloadProxies(of).value;
        for (const [at, proxy] of of.proxies.entries()) {
          const found = classifier.classes[project(classifier, claimsOf(proxy)) ?? ""];
          expect(found ?? nodes[at]?.classId).toBe(nodes[at]?.classId);
          expect(nodes[at]?.keys).toContain(proxy.id);
          expect(classes.ids).toContain(nodes[at]?.classId);
        }
      }),
      runs,
    );
  });

  it("does not depend on the order of objects and proxies", () => {
    fc.assert(
      fc.property(randomWorld, (parts) => {
        const turned = { ...parts, configs: [...parts.configs].reverse(), proxies: [...parts.proxies].reverse() };
        const [one, two] = [parts, turned].map((each) => {
          const of = worldOf(each, "shared");
          return workloadProxies(of).value;
        });
        expect(two?.classifier.classes).toEqual(one?.classifier.classes);
        expect(two?.classes.ids).toEqual(one?.classes.ids);
      }),
      runs,
    );
  });

  it("gives each namespace with sidecars a default class", () => {
    const of = worldOf(
      { services: [], configs: [], proxies: [sidecar("p.ns1", { app: "x" }), sidecar("q.ns2")] },
      "shared",
    );
    const { classifier } = workloadProxies(of).value;
    expect(Object.keys(classifier.defaults)).toEqual(["sidecar/ns1", "sidecar/ns2"]);
  });
});
