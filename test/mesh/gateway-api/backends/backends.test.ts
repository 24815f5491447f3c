import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fieldsOf, listOf } from "../../../../lib/base/untyped.ts";
import { compile } from "../../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../../lib/incremental/memo.ts";
import { resourcesIn } from "../../../../lib/snapshot/compiled.ts";

const samples = new URL("../../../../samples/bookshop-gateway-api/", import.meta.url);
const bookshop = readdirSync(samples)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => readFileSync(new URL(file, samples), "utf8"))
  .join("\n---\n")
  // A listener for every host.
  .replace(/^ +hostname: shop\.example\.com\n/m, "");

const backend = (name: string, spec: object, namespace = "bookshop") => ({
  apiVersion: "gateway.networking.x-k8s.io/v1alpha1",
  kind: "XBackend",
  metadata: { name, namespace },
  spec: { type: "ExternalHostname", ...spec },
});
const named = (hostname: string, port: object) => ({ externalHostname: { hostname }, port });

const route = (name: string, more: object = {}) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { name: `to-${name}`, namespace: "bookshop" },
  spec: {
    parentRefs: [{ name: "bookshop" }],
    hostnames: [`${name}.example.com`],
    rules: [{ backendRefs: [{ group: "gateway.networking.x-k8s.io", kind: "XBackend", name, ...more }] }],
  },
});

function compiled(objects: readonly object[], alphaKinds = true) {
  const text = [bookshop, ...objects.map((object) => JSON.stringify(object))].join("\n---\n");
  const loaded = readFiles([{ file: "a.yaml", text }]);
  const world = worldOf(loaded, { ...defaultWorldOptions, gatewayApi: { alphaKinds } }, createMemo()).value;
  const { classes, statuses = [], secretGrants = [] } = compile(world, [], createMemo()).value;
  const resources = (type: "clusters" | "routes" | "endpoints", among = classes) =>
    among.flatMap(({ stream }) => resourcesIn(stream[type]).map(({ text: json }) => fieldsOf(JSON.parse(json))));
  const inbound = '"name":"InboundPassthroughCluster"';
  const sidecars = classes.filter(({ stream }) =>
    resourcesIn(stream.clusters).some(({ text: json }) => json.includes(inbound)),
  );
  const gateways = classes.filter((one) => !sidecars.includes(one));
  const clusters = resources("clusters").map(({ name }) => name);
  const reasons = (object: string, list: "parents" | "ancestors") =>
    listOf(fieldsOf(statuses.find((one) => one.object === object)?.status)[list]).map((entry) =>
      listOf(fieldsOf(entry).conditions).map((condition) => fieldsOf(condition).reason),
    );
  return {
    errors: loaded.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    cluster: (name: string) => resources("clusters", gateways).find((one) => one.name === name),
    sidecarCluster: (name: string) => resources("clusters", sidecars).find((one) => one.name === name),
    clusters,
    /** All that sidecars have. */
    ofSidecars: sidecars.map(({ stream }) =>
      (["clusters", "endpoints", "listeners", "routes"] as const).map((type) =>
        resourcesIn(stream[type]).map(({ text: json }) => json),
      ),
    ),
    grants: secretGrants,
    /** Of the endpoints of a cluster. */
    addresses: (name: string) => {
      const found = resources("endpoints", gateways).find(({ clusterName }) => clusterName === name);
      return listOf(found?.endpoints)
        .flatMap((locality) => listOf(fieldsOf(locality).lbEndpoints))
        .map((one) => fieldsOf(fieldsOf(fieldsOf(fieldsOf(one).endpoint).address).socketAddress))
        .map(({ address, portValue }) => `${address}:${portValue}`);
    },
    /** Where requests for the host of a route's name are sent. */
    action: (name: string) => {
      const hosts = resources("routes").flatMap(({ virtualHosts }) => listOf(virtualHosts).map(fieldsOf));
      const host = hosts.find(({ domains }) => listOf(domains).includes(`${name}.example.com`));
      const { cluster, clusterNotFoundResponseCode: otherwise } = fieldsOf(fieldsOf(listOf(host?.routes)[0]).route);
      return clusters.includes(cluster) ? cluster : otherwise;
    },
    ofBackend: (name: string, list: "parents" | "ancestors") =>
      reasons(`XBackend.gateway.networking.x-k8s.io/bookshop/${name}`, list),
    ofRoute: (name: string) => reasons(`HTTPRoute.gateway.networking.k8s.io/bookshop/to-${name}`, "parents"),
  };
}

describe("an XBackend with a host outside of the mesh", () => {
  it("has a cluster, in plain text or with TLS of its own port, and routes lead there with and without its port", () => {
    const { errors, cluster, action, ofBackend } = compiled([
      backend("plain", named("plain.example.net", { number: 8080 })),
      backend("secure", {
        ...named("secure.example.net", { number: 443 }),
        tls: { mode: "ServerOnly", validation: { hostname: "cert.example.net", wellKnownCACertificates: "System" } },
      }),
      route("plain"),
      route("secure", { port: 443 }),
    ]);
    expect(errors).toEqual([]);
    expect([action("plain"), action("secure")]).toEqual([
      "outbound|8080||plain.example.net",
      "outbound|443||secure.example.net",
    ]);
    expect(cluster("outbound|8080||plain.example.net")).toMatchObject({ type: "STRICT_DNS" });
    expect(cluster("outbound|8080||plain.example.net")).not.toHaveProperty("transportSocket");
    expect(cluster("outbound|443||secure.example.net")).toMatchObject({
      transportSocket: { typedConfig: { sni: "cert.example.net" } },
    });
    // Of the backend itself, and of the Gateway whose route leads there.
    expect(ofBackend("secure", "ancestors")).toEqual([
      ["Accepted", "ResolvedRefs"],
      ["Accepted", "ResolvedRefs"],
    ]);
  });

  it("is told of as the definition of 1.6 calls it, where the port is written as that has it", () => {
    const { ofBackend, action } = compiled([
      backend("old", named("old.example.net", { port: 80, name: "http" })),
      route("old"),
    ]);
    expect(action("old")).toBe("outbound|80||old.example.net");
    expect(ofBackend("old", "parents")).toHaveLength(2);
    expect(ofBackend("old", "ancestors")).toEqual([]);
  });

  it.each([
    ["by another port", named("a.example.net", { number: 80 }), { port: 81 }, "BackendNotFound"],
    [
      "in another namespace without a grant",
      named("a.example.net", { number: 80 }),
      { namespace: "infra" },
      "RefNotPermitted",
    ],
    ["with a name of the cluster's services", named("a.svc.clusterset.local", { number: 80 }), {}, "BackendNotFound"],
  ])("is not found %s: its requests get 500", (_what, spec, ref, reason) => {
    const { action, ofRoute } = compiled([backend("lost", spec), route("lost", ref)]);
    expect(action("lost")).toBe("INTERNAL_SERVER_ERROR");
    expect(ofRoute("lost")).toEqual([["Accepted", reason]]);
  });

  it("does not count without the alpha kinds", () => {
    const { action, ofRoute, clusters } = compiled(
      [backend("off", named("a.example.net", { number: 80 })), route("off")],
      false,
    );
    expect(action("off")).toBe("INTERNAL_SERVER_ERROR");
    expect(ofRoute("off")).toEqual([["Accepted", "InvalidKind"]]);
    expect(clusters.join()).not.toContain("a.example.net");
  });

  it("is found in another namespace where a ReferenceGrant allows it", () => {
    const grant = {
      apiVersion: "gateway.networking.k8s.io/v1beta1",
      kind: "ReferenceGrant",
      metadata: { name: "to-backends", namespace: "infra" },
      spec: {
        from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "bookshop" }],
        to: [{ group: "gateway.networking.x-k8s.io", kind: "XBackend" }],
      },
    };
    const spec = named("a.example.net", { number: 80 });
    const { action, ofRoute } = compiled([backend("far", spec, "infra"), route("far", { namespace: "infra" }), grant]);
    expect([action("far"), ofRoute("far")]).toEqual(["outbound|80||a.example.net", [["Accepted", "ResolvedRefs"]]]);
  });

  const mutual = (clientCertificateRef: object) => ({
    tls: {
      mode: "ClientAndServer",
      clientCertificateRef,
      validation: { hostname: "a.example.net", wellKnownCACertificates: "System" },
    },
  });

  it("is shown the certificate of a Secret beside it, which Gateways of its routes may have", () => {
    const { cluster, grants, ofBackend } = compiled([
      backend("mutual", { ...named("a.example.net", { number: 443 }), ...mutual({ name: "mine" }) }),
      route("mutual"),
    ]);
    const of = (name: string) => expect.objectContaining({ name });
    expect(cluster("outbound|443||a.example.net")).toMatchObject({
      transportSocket: {
        typedConfig: {
          sni: "a.example.net",
          commonTlsContext: {
            tlsCertificateSdsSecretConfigs: [of("kubernetes-gateway://bookshop/mine")],
            combinedValidationContext: {
              defaultValidationContext: { matchSubjectAltNames: [{ exact: "a.example.net" }] },
              validationContextSdsSecretConfig: of("file-root:system"),
            },
          },
        },
      },
    });
    expect(grants).toEqual([{ from: "bookshop", to: "bookshop", name: "mine" }]);
    expect(ofBackend("mutual", "ancestors")[0]).toEqual(["Accepted", "ResolvedRefs"]);
  });

  it.each([
    ["Secret of another namespace", { name: "mine", namespace: "infra" }, "RefNotPermitted"],
    ["object that is no Secret", { name: "mine", kind: "ConfigMap" }, "InvalidClientCertificateRef"],
  ])("is never called in plain text where it names an %s", (_what, ref, reason) => {
    const { cluster, grants, ofBackend } = compiled([
      backend("mutual", { ...named("a.example.net", { number: 443 }), ...mutual(ref) }),
      route("mutual"),
    ]);
    expect(JSON.stringify(cluster("outbound|443||a.example.net"))).toContain("invalid://");
    expect(grants).toEqual([]);
    expect(ofBackend("mutual", "ancestors")[0]).toEqual(["Invalid", reason]);
  });

  it("opens its Secret for no Gateway that a route of another namespace names without a grant", () => {
    const far = { ...route("mutual", { namespace: "bookshop" }), metadata: { name: "far", namespace: "infra" } };
    const { grants } = compiled([
      backend("mutual", { ...named("a.example.net", { number: 443 }), ...mutual({ name: "mine" }) }),
      far,
    ]);
    expect(grants).toEqual([]);
  });

  it("is never called in plain text by sidecars, which may not have its certificate", () => {
    const { sidecarCluster } = compiled([
      backend("mutual", { ...named("a.example.net", { number: 443 }), ...mutual({ name: "mine" }) }),
    ]);
    expect(JSON.stringify(sidecarCluster("outbound|443||a.example.net"))).toContain("invalid://");
  });

  it("is refused with what does not go together", () => {
    const { errors } = compiled([
      backend("both", {
        ...named("a.example.net", { number: 80, port: 80 }),
        endpointSelector: { matchLabels: { a: "b" } },
      }),
      backend("own", named("a.default.svc.cluster.local", { number: 80 })),
    ]);
    expect(errors.join()).toMatch(/only for it.*needs the number of a port, once.*must not be a name of this cluster/s);
  });
});

describe("an XBackend that selects endpoints", () => {
  const pods = (app: string) =>
    ["10.1.9.1", "10.1.9.2"].map((ip, at) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${app}-${at}`, namespace: "bookshop", labels: { app } },
      spec: { containers: [{ name: app }] },
      status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] },
    }));
  const selector = (more: object = {}) => ({
    type: "EndpointSelector",
    endpointSelector: { matchLabels: { app: "ratings" } },
    port: { number: 9080 },
    ...more,
  });
  const host = "selected~bookshop.xbackend.invalid";

  it("leads to the pods with the labels, at the port, by mutual TLS of the mesh as a Service would", () => {
    const { action, cluster, addresses, ofRoute, ofBackend } = compiled([
      backend("selected", selector()),
      route("selected"),
      ...pods("ratings"),
      ...pods("others"),
    ]);
    expect(action("selected")).toBe(`outbound|9080||${host}`);
    expect(addresses(`outbound|9080||${host}`)).toEqual(["10.1.9.1:9080", "10.1.9.2:9080"]);
    expect(cluster(`outbound|9080||${host}`)).toHaveProperty("transportSocketMatches");
    expect([ofRoute("selected"), ofBackend("selected", "ancestors")[0]]).toEqual([
      [["Accepted", "ResolvedRefs"]],
      ["Accepted", "ResolvedRefs"],
    ]);
  });

  it("is a destination alone: no sidecar listens for it, names it, or serves it", () => {
    const { ofSidecars } = compiled([backend("selected", selector({ protocol: "TCP" })), ...pods("ratings")]);
    const { ofSidecars: without } = compiled(pods("ratings"));
    expect(without.length).toBeGreaterThan(0);
    expect(ofSidecars).toEqual(without);
  });

  it("speaks what its routes speak where it states no protocol", () => {
    const grpc = { ...route("selected"), kind: "GRPCRoute" };
    const http2 = (objects: readonly object[]) =>
      JSON.stringify(
        compiled([backend("selected", selector()), ...objects]).cluster(`outbound|9080||${host}`),
      ).includes("http2ProtocolOptions");
    expect([http2([route("selected")]), http2([grpc])]).toEqual([false, true]);
  });

  it("has TLS of its own where it says so, and needs labels", () => {
    const validation = { hostname: "in.example.net", wellKnownCACertificates: "System" };
    const { cluster, errors } = compiled([
      backend("selected", selector({ tls: { mode: "ServerOnly", validation } })),
      backend("all", selector({ endpointSelector: { matchLabels: {} } })),
      route("selected"),
    ]);
    expect(cluster(`outbound|9080||${host}`)).toMatchObject({
      transportSocket: { typedConfig: { sni: "in.example.net" } },
    });
    expect(errors).toEqual([expect.stringContaining("at least 1 members")]);
  });
});

describe("a listener with filters before its routes", () => {
  it("is not served, since nothing would keep out what they keep out", () => {
    const auth = {
      type: "ExternalAuth",
      externalAuth: { protocol: "GRPC", grpc: {}, backendRef: { name: "a", port: 9 } },
    };
    const listener = { name: "guarded", port: 8081, protocol: "HTTP", filters: { requests: [auth] } };
    const edge = (listeners: readonly object[]) => ({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "bookshop2", namespace: "bookshop" },
      spec: { gatewayClassName: "portolan", listeners },
    });
    const text = JSON.stringify(edge([listener, { name: "open", port: 8082, protocol: "HTTP" }]));
    const loaded = readFiles([{ file: "a.yaml", text }]);
    expect(loaded.diagnostics).toEqual([]);
    const world = worldOf(loaded, defaultWorldOptions, createMemo()).value;
    const status = compile(world, [], createMemo()).value.statuses?.[0]?.status;
    expect(status).toMatchObject({
      listeners: [
        {
          name: "guarded",
          conditions: expect.arrayContaining([
            expect.objectContaining({ type: "Accepted", status: "False", reason: "UnsupportedValue" }),
            expect.objectContaining({ type: "Programmed", status: "False" }),
          ]),
        },
        { conditions: expect.arrayContaining([expect.objectContaining({ type: "Accepted", status: "True" })]) },
      ],
    });
    const tcp = readFiles([{ file: "a.yaml", text: text.replaceAll('"HTTP"', '"TCP"') }]);
    expect(tcp.diagnostics.map(({ message }) => message).join()).toContain("for listeners of HTTP and HTTPS alone");
  });
});
