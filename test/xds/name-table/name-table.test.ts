import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { checkResource } from "../../../lib/xds/descriptors.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { type NamedProxy, proxyOfNamed } from "../../named-proxy.ts";

const capturing = { DNS_CAPTURE: "true", CLUSTER_ID: "Kubernetes" };

interface Asking {
  readonly input: string;
  readonly node?: Partial<NamedProxy>;
}

/** The resources of the type for a client; undefined: it has none of it. */
function tablesOf({ input, node = {} }: Asking, memo: Memo = createMemo()) {
  const world = worldOf(readFiles([{ file: "a.yaml", text: input }]), defaultWorldOptions, memo).value;
  const named = { name: "client", type: "sidecar", ip: "10.1.0.9", namespace: "default", labels: {}, ...node } as const;
  const proxy = proxyOfNamed({ metadata: capturing, ...named }, world.registry, world.meshConfig).value;
  if (proxy === undefined) throw new Error("the node of the test cannot be read");
  return generate(buildMesh(world, memo).value, proxy, memo).value.name_tables?.shared;
}

function namesOf(asking: Asking): Readonly<Record<string, unknown>> {
  const [table] = tablesOf(asking) ?? [];
  if (table === undefined) throw new Error("there is no table");
  expect(checkResource("name_tables", table)).toBeUndefined();
  return Object.fromEntries(Object.entries(table.json).flatMap(([, value]) => Object.entries(value)));
}

const service = (name: string, spec: string) => `
---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: shop}
spec: {${spec}, ports: [{name: tcp, port: 80}]}
`;

const entry = (name: string, spec: string, more = "") => `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}, namespace: shop}
spec: {${spec}, ports: [{number: 443, name: tls, protocol: TLS}]}
${more}
`;

const slice = (of: string, endpoints: string, type = "IPv4") => `
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${of}-1, namespace: shop, labels: {kubernetes.io/service-name: ${of}}}
addressType: ${type}
ports: [{name: tcp, port: 80}]
endpoints: [${endpoints}]
`;

const pod = (name: string, ip: string, ready = true) =>
  `{addresses: ["${ip}"], hostname: ${name}, conditions: {ready: ${ready}}, targetRef: {kind: Pod, name: ${name}, namespace: shop}}`;

/** A pod of a headless service. */
const podObject = (name: string, ip: string) => `
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop, labels: {app: db}}
spec: {hostname: ${name}, subdomain: db, containers: [{name: a, image: a}]}
status: {phase: Running, podIP: ${ip}, podIPs: [{ip: ${ip}}], conditions: [{type: Ready, status: "True"}]}
`;

const kubernetes = (shortname: string, ...ips: string[]) => ({
  ips,
  registry: "Kubernetes",
  shortname,
  namespace: "shop",
});
const external = (...ips: string[]) => ({ ips, registry: "External" });

describe("the names that a proxy can ask for", () => {
  it("are there for a proxy that captures DNS, and for no other", () => {
    const input = service("web", "clusterIP: 10.0.0.1");
    expect(namesOf({ input })).toEqual({ "web.shop.svc.cluster.local": kubernetes("web", "10.0.0.1") });
    expect(tablesOf({ input, node: { metadata: {} } })).toBeUndefined();
    expect(tablesOf({ input, node: { metadata: { DNS_CAPTURE: "false" } } })).toBeUndefined();
    expect(namesOf({ input, node: { type: "router", name: "gateway" } })).toHaveProperty("web.shop.svc.cluster.local");
  });

  it("are an empty table where nothing is in reach, and a gRPC program has none", () => {
    expect(tablesOf({ input: "" })).toMatchObject([{ name: "names", json: { table: {} }, from: [] }]);
    const node = { metadata: { ...capturing, GENERATOR: "grpc" } };
    expect(tablesOf({ input: service("web", "clusterIP: 10.0.0.1"), node })).toBeUndefined();
  });

  it("of a ServiceEntry lead to its addresses, without ranges, or to those that were allocated", () => {
    const allocated = `status: {addresses: [{host: "free.example.com", value: 240.240.0.7}, {host: "free.example.com", value: "2001:2::f0f0:7"}]}`;
    const input =
      entry("fixed", 'hosts: [fixed.example.com], addresses: ["192.0.2.1", "192.0.2.0/24"], resolution: STATIC') +
      entry("any", 'hosts: ["*.any.example.com"], addresses: ["192.0.2.9"], resolution: NONE') +
      entry("free", "hosts: [free.example.com], resolution: DNS", allocated) +
      entry("unknown", "hosts: [unknown.example.com], resolution: DNS");
    expect(namesOf({ input })).toEqual({
      "*.any.example.com": external("192.0.2.9"),
      "fixed.example.com": external("192.0.2.1"),
      "free.example.com": external("240.240.0.7"),
    });
  });

  it("of several ServiceEntries lead to the addresses of all, each once; a service of Kubernetes has its name for itself", () => {
    const host = "web.shop.svc.cluster.local";
    const input =
      entry("a", `hosts: [both.example.com, ${host}], addresses: ["192.0.2.1"], resolution: STATIC`) +
      entry("b", `hosts: [both.example.com], addresses: ["192.0.2.2", "192.0.2.1"], resolution: STATIC`) +
      service("web", "clusterIP: 10.0.0.1");
    expect(namesOf({ input })).toEqual({
      "both.example.com": external("192.0.2.1", "192.0.2.2"),
      [host]: kubernetes("web", "10.0.0.1"),
    });
  });

  it("of a headless service lead to its pods that are ready, and each pod with a host name has one", () => {
    const input =
      service("db", "clusterIP: None, selector: {app: db}") +
      podObject("db-0", "10.2.0.1") +
      podObject("db-1", "10.2.0.2") +
      podObject("db-2", "10.2.0.3") +
      slice("db", [pod("db-0", "10.2.0.1"), pod("db-1", "10.2.0.2"), pod("db-2", "10.2.0.3", false)].join());
    const expected = {
      "db.shop.svc.cluster.local": kubernetes("db", "10.2.0.1", "10.2.0.2"),
      "db-0.db.shop.svc.cluster.local": kubernetes("db-0.db", "10.2.0.1"),
      "db-1.db.shop.svc.cluster.local": kubernetes("db-1.db", "10.2.0.2"),
    };
    expect(namesOf({ input })).toEqual(expected);
    // The address that stands for none is of IPv4.
    expect(namesOf({ input, node: { ip: "2001:db8::9" } })).toEqual(expected);
    const early = input.replace("clusterIP: None", "clusterIP: None, publishNotReadyAddresses: true");
    expect(namesOf({ input: early })).toHaveProperty(["db-2.db.shop.svc.cluster.local"]);
  });

  it("are those that a Sidecar imports", () => {
    const sidecar = `
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: default}
spec: {egress: [{hosts: ["shop/web.shop.svc.cluster.local"]}]}
`;
    const input = service("web", "clusterIP: 10.0.0.1") + service("other", "clusterIP: 10.0.0.2") + sidecar;
    expect(Object.keys(namesOf({ input }))).toEqual(["web.shop.svc.cluster.local"]);
  });

  it("are one list for namespaces that see the same, and stay it when an endpoint changes that no name leads to", () => {
    const memo = createMemo();
    const input = service("web", "clusterIP: 10.0.0.1, selector: {app: web}") + service("db", "clusterIP: None");
    const first = tablesOf({ input }, memo);
    expect(tablesOf({ input, node: { namespace: "far" } }, memo)).toBe(first);
    expect(
      tablesOf({ input: input + slice("web", `{addresses: ["10.2.0.9"], conditions: {ready: true}}`) }, memo),
    ).toBe(first);
    expect(
      tablesOf({ input: input + slice("db", `{addresses: ["10.2.0.9"], conditions: {ready: true}}`) }, memo),
    ).not.toEqual(first);
  });

  it("say which objects they come from", () => {
    const [table] =
      tablesOf({ input: service("web", "clusterIP: 10.0.0.1") + service("gone", "clusterIP: None") }) ?? [];
    expect(table?.from.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["Service/web"]);
  });
});
