import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileOrigin } from "../../lib/base/diagnostic.ts";
import type { Config } from "../../lib/config/config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import type { StatedEndpoints } from "../../lib/config/kinds/stated-endpoints.ts";
import { buildRegistry, createRegistryBuilder } from "../../lib/registry/build-registry.ts";
import type { RegistryState } from "../../lib/registry/changes/registry-state.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";
import type { Service } from "../../lib/registry/service.ts";
import { propertyRuns } from "../soak-options.ts";
import { object, pod, service, serviceEntry, slice, workloadEntry, world } from "./objects.ts";

const namespaces = ["red", "blue"];
const names = ["a", "b"];
const addresses = ["10.1.0.1", "10.1.0.2", "10.1.0.3"];
const apps = [{ app: "a" }, { app: "b" }, { app: "a", "security.istio.io/tlsMode": "istio" }];

const key = fc.tuple(fc.constantFrom(...namespaces), fc.constantFrom(...names)).map((parts) => parts.join("/"));
const address = fc.constantFrom(...addresses);
const endpointText = fc.tuple(address, fc.constantFrom("", "=a", "=b")).map(([ip, target]) => `${ip}${target}`);

const anyObject: fc.Arbitrary<KubernetesObject> = fc.oneof(
  fc
    .tuple(
      key,
      fc.constantFrom({}, { clusterIP: "None" }, { selector: { app: "b" } }),
      fc.constantFrom({}, { labels: { x: "1" } }),
    )
    .map(([at, spec, metadata]) => service(at, spec, metadata)),
  fc
    .tuple(key, fc.constantFrom("a.red.svc.cluster.local", "b.blue.svc.cluster.local"))
    .map(([at, externalName]) => service(at, { type: "ExternalName", externalName })),
  fc
    .tuple(
      key,
      address,
      fc.constantFrom(...apps),
      fc.constantFrom("n1", "n2", ""),
      fc.constantFrom([{ type: "Ready", status: "True" }], [{ type: "Ready", status: "False" }], []),
    )
    .map(([at, ip, labels, nodeName, conditions]) => pod(at, ip, labels, { nodeName }, { conditions })),
  fc
    .tuple(key, fc.array(endpointText, { maxLength: 3 }), fc.constantFrom("one", "two"))
    .map(([at, endpoints, name]) => slice(at, endpoints, { name: `${at.split("/")[1]}-${name}` })),
  fc
    .tuple(fc.constantFrom("n1", "n2"), fc.constantFrom("r1", "r2"))
    .map(([name, region]) => object("Node", `/${name}`, {}, { labels: { "topology.kubernetes.io/region": region } })),
  fc
    .constantFrom({}, { "topology.istio.io/network": "north" })
    .map((labels) => object("Namespace", "/istio-system", {}, { labels })),
  fc
    .constantFrom({ "istio-injection": "enabled" }, { "istio-injection": "disabled" }, {})
    .map((labels) => object("Namespace", "/red", {}, { labels })),
  fc
    .tuple(
      fc.constantFrom("Deployment", "StatefulSet", "CronJob"),
      key,
      fc.constantFrom(...apps),
      fc.constantFrom({}, { hostNetwork: true }),
      fc.boolean(),
    )
    .map(([kind, at, labels, spec, selects]) => {
      const template = { metadata: { labels }, spec };
      const own = kind === "CronJob" ? { jobTemplate: { spec: { template } } } : { template };
      return object(kind, at, {
        spec: { ...own, ...(selects ? { selector: { matchLabels: { app: labels.app } } } : {}) },
      });
    }),
);

const anyConfig: fc.Arbitrary<Config> = fc.oneof(
  fc
    .tuple(
      key,
      fc.constantFrom("x.example.com", "y.example.com"),
      fc.constantFrom("STATIC", "DNS", "DNS_ROUND_ROBIN"),
      fc.constantFrom("a", "b", ""),
      address,
    )
    .map(([at, host, resolution, app, ip]) =>
      serviceEntry(at, {
        hosts: [host],
        resolution: resolution === "DNS" ? "DNS" : resolution === "STATIC" ? "STATIC" : "DNS_ROUND_ROBIN",
        location: "MESH_INTERNAL",
        ports: [{ number: 80, name: "http", protocol: "HTTP" }],
        ...(app === "" ? { endpoints: [{ address: ip }] } : { workloadSelector: { labels: { app } } }),
      }),
    ),
  fc
    .tuple(key, fc.constantFrom(...apps), address)
    .map(([at, labels, ip]) => workloadEntry(at, { address: ip, labels, serviceAccount: "vm" })),
);

type Change =
  | { readonly put: KubernetesObject; readonly cluster: number; readonly copy?: number }
  | { readonly config: Config }
  | { readonly drop: number }
  | { readonly terms: Terms };

/** What is no object: it changes everything at once. */
interface Terms {
  readonly domain: string;
  readonly clusters: number;
  readonly meshNetworks: RegistryInput["meshNetworks"];
  readonly addressAllocation: "status" | "hash";
  readonly statedEndpoints: readonly StatedEndpoints[];
}

const firstTerms: Terms = {
  domain: "cluster.local",
  clusters: 2,
  meshNetworks: noMeshNetworks,
  addressAllocation: "status",
  statedEndpoints: [],
};

const stated = (of: "workload" | "service", name: string, ...hosts: readonly string[]): StatedEndpoints => ({
  of,
  namespace: name === "*" ? "*" : "red",
  name,
  hosts: hosts.map((host) => ({ host, port: undefined })),
  labels: {},
  origin: fileOrigin("portolan.yaml"),
});

const anyTerms: fc.Arbitrary<Terms> = fc.record({
  domain: fc.constantFrom("cluster.local", "mesh.example"),
  clusters: fc.integer({ min: 1, max: 2 }),
  meshNetworks: fc.constantFrom(noMeshNetworks, {
    networks: { south: { endpoints: [{ fromRegistry: "Kubernetes" }], gateways: [] } },
  }),
  addressAllocation: fc.constantFrom("status", "hash"),
  statedEndpoints: fc.constantFrom<readonly StatedEndpoints[]>(
    [],
    [stated("workload", "*", "{name}.internal")],
    [stated("workload", "a", "10.9.0.1"), stated("service", "b", "b.internal", "10.9.0.2")],
  ),
});

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ put: anyObject, cluster: fc.nat({ max: 1 }) }) },
  { weight: 3, arbitrary: fc.record({ config: anyConfig }) },
  { weight: 3, arbitrary: fc.record({ drop: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ terms: anyTerms }) },
);

const proxies = namespaces.flatMap((namespace) =>
  addresses.map((ip, at) => ({
    id: `${names[at % 2]}.${namespace}`,
    namespace,
    addresses: [ip],
    clusterId: at === 0 ? "other" : "Kubernetes",
    labels: { app: "a" },
  })),
);

function contents(state: RegistryState) {
  return {
    services: state.services,
    endpoints: [...state.endpoints].sort(([a], [b]) => (a < b ? -1 : 1)),
    workloads: state.workloads,
    gateways: state.networkGateways,
    targets: proxies.map((proxy) => state.serviceTargets(proxy)),
    own: proxies.map((proxy) => state.workload(proxy)),
  };
}

function sameText(a: readonly Service[], b: readonly Service[]): boolean {
  const text = (services: readonly Service[]): string =>
    JSON.stringify(services, (_key, value) => (value instanceof Map ? [...value] : value));
  return text(a) === text(b);
}

/** A world that can be changed: the objects of two clusters and the configs, each by kind and key. */
class Stores {
  readonly #objects: readonly [Map<string, KubernetesObject>, Map<string, KubernetesObject>] = [new Map(), new Map()];
  readonly #configs = new Map<string, Config>();
  #terms = firstTerms;

  constructor(changes: readonly Change[] = []) {
    for (const change of changes) this.apply(change);
  }

  apply(change: Change): void {
    if ("terms" in change) this.#terms = change.terms;
    else if ("put" in change) {
      const { kind, metadata } = change.put;
      const store = change.cluster === 0 ? this.#objects[0] : this.#objects[1];
      store.set(`${kind}/${metadata.namespace}/${metadata.name} ${change.copy ?? 0}`, change.put);
    } else if ("config" in change) {
      const { kind, namespace, name } = change.config.meta;
      this.#configs.set(`${kind}/${namespace}/${name}`, change.config);
    } else {
      const store = [...this.#objects, this.#configs][change.drop % 3] ?? this.#configs;
      const keys = [...store.keys()];
      const key = keys[change.drop % Math.max(1, keys.length)];
      if (key !== undefined) store.delete(key);
    }
  }

  input(reversed = false): RegistryInput {
    const list = <T>(values: Iterable<T>): readonly T[] => (reversed ? [...values].reverse() : [...values]);
    const { clusters, statedEndpoints, ...terms } = this.#terms;
    const all = [
      { id: "Kubernetes", objects: list(this.#objects[0].values()), statedEndpoints },
      { id: "other", objects: list(this.#objects[1].values()) },
    ];
    return world([], list(this.#configs.values()), { ...terms, clusters: all.slice(0, clusters) });
  }
}

/** Two files may hold one object: it is there as often as they say. */
const anyCopy: fc.Arbitrary<Change> = fc.record({
  put: anyObject,
  cluster: fc.nat({ max: 1 }),
  copy: fc.nat({ max: 2 }),
});

describe("buildRegistry under a memo", () => {
  it("gives after any sequence of changes what a fresh build gives, and keeps what did not change", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { minLength: 1, maxLength: 25 }), (changes) => {
        const stores = new Stores();
        const build = createRegistryBuilder();
        let former = build(stores.input()).value;
        for (const change of changes) {
          stores.apply(change);
          const input = stores.input();
          const { value: state, diagnostics } = build(input);
          const fresh = buildRegistry(input);
          expect(contents(state)).toEqual(contents(fresh.value));
          expect(diagnostics).toEqual(fresh.diagnostics);
          for (const [key, endpoints] of state.endpoints) {
            const before = former.endpoints.get(key);
            if (before !== undefined && JSON.stringify(before) === JSON.stringify(endpoints)) {
              expect(endpoints).toBe(before);
            }
          }
          if (sameText(former.services, state.services)) expect(state.services).toBe(former.services);
          former = state;
        }
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  it("gives what a fresh build gives where objects are there more than once, and one of them goes", () => {
    const changes = fc.array(fc.oneof(anyCopy, anyCopy, anyChange), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(changes, (list) => {
        const stores = new Stores();
        const build = createRegistryBuilder();
        for (const change of list) {
          stores.apply(change);
          const fresh = buildRegistry(stores.input());
          const { value, diagnostics } = build(stores.input());
          expect(contents(value)).toEqual(contents(fresh.value));
          expect(diagnostics).toEqual(fresh.diagnostics);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it("does not care in which order the objects come", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 30 }), (changes) => {
        const stores = new Stores(changes);
        expect(contents(buildRegistry(stores.input()).value)).toEqual(
          contents(buildRegistry(stores.input(true)).value),
        );
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  it("is as before once what was added is removed again", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 15 }), anyObject, (changes, extra) => {
        const stores = new Stores(changes);
        const build = createRegistryBuilder();
        const before = contents(build(stores.input()).value);
        const input = stores.input();
        const [primary] = input.clusters;
        const taken = primary?.objects.some(
          ({ kind, metadata }) =>
            kind === extra.kind &&
            metadata.name === extra.metadata.name &&
            metadata.namespace === extra.metadata.namespace,
        );
        fc.pre(taken === false);
        build({
          ...input,
          clusters: [
            { ...primary, id: "Kubernetes", objects: [...(primary?.objects ?? []), extra] },
            ...input.clusters.slice(1),
          ],
        });
        expect(contents(build(input).value)).toEqual(before);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
