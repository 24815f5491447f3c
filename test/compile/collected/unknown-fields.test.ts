import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ResourceSchema } from "../../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import type { Fields } from "../../../lib/base/untyped.ts";
import { type ReadObject, readCollected } from "../../../lib/compile/collected/read-collected.ts";
import type { ClosedObject } from "../../../lib/config/fail-closed/closed-object.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { decodeResource } from "../../../lib/mcp/decode.ts";
import { mcpKinds } from "../../../lib/mcp/kinds.ts";

type Kind = readonly [kind: string, group: string, version: string];
const authorization: Kind = ["AuthorizationPolicy", "security.istio.io", "v1"];
const peers: Kind = ["PeerAuthentication", "security.istio.io", "v1"];
const tokens: Kind = ["RequestAuthentication", "security.istio.io", "v1"];
const gateway: Kind = ["Gateway", "networking.istio.io", "v1"];
const rule: Kind = ["DestinationRule", "networking.istio.io", "v1"];
const sidecar: Kind = ["Sidecar", "networking.istio.io", "v1"];
const filter: Kind = ["EnvoyFilter", "networking.istio.io", "v1alpha3"];
const backendTls: Kind = ["BackendTLSPolicy", "gateway.networking.k8s.io", "v1"];

const objectOf = ([kind, group, version]: Kind, spec: Fields) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name: "a", namespace: "shop" },
  spec,
});

const fromFolder = (kind: Kind, spec: Fields): ReadObject => {
  const { configs, closed, diagnostics } = readFiles([{ file: "a.yaml", text: JSON.stringify(objectOf(kind, spec)) }]);
  const [config] = configs;
  const [one] = closed;
  return {
    ...(config === undefined ? { isRefused: true } : { config }),
    ...(one === undefined ? {} : { closed: one }),
    diagnostics,
  };
};
const about = { kubernetes: { kind: "kubernetes", cluster: "main" }, mcp: { kind: "mcp" } } as const;
const fromServer = (kind: Kind, spec: Fields, from: keyof typeof about = "kubernetes"): ReadObject =>
  readCollected(
    { about: about[from], name: "cluster" },
    { key: `${kind[0]}/shop/a`, version: "1", object: objectOf(kind, spec) },
  );

const closingOf = ({ closed }: { readonly closed?: ClosedObject }) => closed?.closing;
const sources = [
  ["a folder", fromFolder],
  ["a cluster", fromServer],
  ["an MCP server", (kind: Kind, spec: Fields) => fromServer(kind, spec, "mcp")],
] as const;

const server = (tls: Fields) => ({
  servers: [{ port: { number: 443, protocol: "HTTPS", name: "https" }, hosts: ["*"], tls }],
});
const simple = { mode: "SIMPLE", credentialName: "c" };
const guard = {
  name: "envoy.filters.http.rbac",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC" },
};
const inserted = (match: Fields, operation = "INSERT_FIRST") => ({
  configPatches: [{ applyTo: "HTTP_FILTER", match, patch: { operation, value: guard } }],
});

/** Fields, values and versions that no release has. */
const cases: readonly (readonly [
  what: string,
  kind: Kind,
  spec: Fields,
  closing: ClosedObject["closing"] | undefined,
])[] = [
  ["a field of a rule", authorization, { rules: [{ unless: [] }] }, "only-valid-rules"],
  ["an action", authorization, { action: "THROTTLE", rules: [{}] }, "denied"],
  ["a version", [authorization[0], authorization[1], "v7"], { rules: [{}] }, "denied"],
  ["a field", peers, { mtls: { mode: "PERMISSIVE" }, portRanges: {} }, "mutual-tls"],
  ["a mode", peers, { mtls: { mode: "STRICTEST" } }, "mutual-tls"],
  ["a field of a rule", tokens, { jwtRules: [{ issuer: "a", binding: "MTLS" }] }, "tokens-required"],
  ["a presence", tokens, { jwtRules: [{ issuer: "a", presence: "REQUIRED_FOR_WRITES" }] }, "tokens-required"],
  ["a field of TLS", gateway, server({ ...simple, clientCertificatePolicy: "PINNED" }), undefined],
  ["a mode of TLS", gateway, server({ ...simple, mode: "MUTUAL_PINNED" }), undefined],
  ["a curve", gateway, server({ ...simple, ecdhCurves: ["P-1024"] }), undefined],
  [
    "a field of TLS",
    rule,
    { host: "a.test", trafficPolicy: { tls: { mode: "SIMPLE", pinnedKeys: ["k"] } } },
    "connections-refused",
  ],
  [
    "a field beside TLS that is about it",
    rule,
    { host: "a.test", trafficPolicy: { tls: { mode: "SIMPLE" }, minTlsVersion: "1.3" } },
    "connections-refused",
  ],
  ["a mode of TLS", rule, { host: "a.test", trafficPolicy: { tls: { mode: "PINNED" } } }, "connections-refused"],
  ["a field", sidecar, { egress: [{ hosts: ["./*"] }], denied: ["*/b.test"] }, "calls-refused"],
  [
    "a mode of its policy",
    sidecar,
    { egress: [{ hosts: ["./*"] }], outboundTrafficPolicy: { mode: "REGISTRY_ONLY_STRICT" } },
    "calls-refused",
  ],
  ["a field of a match", filter, inserted({ context: "SIDECAR_INBOUND", workload: "a" }), "denied"],
  ["a context", filter, inserted({ context: "SIDECAR_BOTH" }), "denied"],
  ["an operation", filter, inserted({}, "INSERT_SOMEWHERE"), "denied"],
];

describe("what no release has, in a kind that protects", () => {
  for (const [source, read] of sources) {
    it.each(cases)(`is refused, for %s of %s, from ${source}`, (_what, kind, spec, closing) => {
      const found = read(kind, spec);
      expect(found.config).toBeUndefined();
      expect(found.diagnostics.filter(({ severity }) => severity === "error")).not.toEqual([]);
      expect(closingOf(found)).toBe(closing);
    });
  }

  it("is refused of a BackendTLSPolicy, from a cluster as from a folder", () => {
    const spec = {
      targetRefs: [{ group: "", kind: "Service", name: "a" }],
      validation: { hostname: "a.test", wellKnownCACertificates: "System", pinnedKeys: ["k"] },
    };
    expect(sources.slice(0, 2).map(([, read]) => closingOf(read(backendTls, spec)))).toEqual([
      "connections-refused",
      "connections-refused",
    ]);
  });

  it("is refused from a cluster wherever it stands in a Gateway, and in a DestinationRule that states TLS", () => {
    const found = [
      fromServer(rule, { host: "a.test", trafficPolicy: { tls: { mode: "SIMPLE" }, shedding: {} } }),
      fromServer(gateway, { ...server(simple), drain: "1s" }),
    ];
    expect(found.map(({ config }) => config)).toEqual([undefined, undefined]);
  });

  it("is ignored with a warning from a cluster in what protects nothing", () => {
    const found = [
      fromServer(rule, {
        host: "a.test",
        trafficPolicy: { connectionPool: { tcp: { maxConnections: 1 } }, shedding: {} },
      }),
      fromServer(["VirtualService", "networking.istio.io", "v1"], {
        hosts: ["a.test"],
        tlsMirror: {},
        http: [{ route: [{ destination: { host: "a.test" } }] }],
      }),
    ];
    expect(found.map(({ config }) => config === undefined)).toEqual([false, false]);
    expect(found.flatMap(({ diagnostics }) => diagnostics.map(({ code, severity }) => [code, severity]))).toEqual(
      found.map(() => ["unknown-field", "warning"]),
    );
  });
});

/** A field that no message has, as protobuf writes it: a varint. */
const unknownField = (no: number): Uint8Array => {
  const key = no << 3;
  return Uint8Array.of((key & 0x7f) | 0x80, key >> 7, 1);
};

const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A message in field `no`, of fewer than 128 bytes. */
const inField = (no: number, value: Uint8Array): Uint8Array =>
  joined(Uint8Array.of((no << 3) | 2, value.length), value);

function decoded(name: string, value: Uint8Array) {
  const kind = mcpKinds.find((one) => one.kind === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  const body = { typeUrl: `type.googleapis.com/${kind.message.typeName}`, value };
  const resource = create(ResourceSchema, { metadata: { name: "shop/a" }, body });
  expect(toBinary(ResourceSchema, resource).length).toBeGreaterThan(0);
  const found = decodeResource(kind, resource, true);
  if (found.kind !== "decoded") throw new Error(found.reason);
  return found.value.object;
}

describe("a field of a newer protobuf message, from an MCP server", () => {
  const issuer = inField(1, new TextEncoder().encode("a"));

  it("is no more lost than one in a text", () => {
    expect(decoded("RequestAuthentication", inField(2, joined(issuer, unknownField(99)))).spec).toEqual({
      jwtRules: [{ issuer: "a", "#99": true }],
    });
    expect(decoded("PeerAuthentication", unknownField(77)).spec).toEqual({ "#77": true });
    // The ports of portLevelMtls are keys of a map.
    const entry = joined(Uint8Array.of(8, 80), inField(2, unknownField(98)));
    expect(decoded("PeerAuthentication", inField(3, entry)).spec).toEqual({ portLevelMtls: { "80": { "#98": true } } });
  });

  it("closes what its object protects", () => {
    const object = decoded("RequestAuthentication", inField(2, joined(issuer, unknownField(99))));
    const found = readCollected(
      { about: about.mcp, name: "s" },
      { key: "RequestAuthentication/shop/a", version: "1", object },
    );
    expect(closingOf(found)).toBe("tokens-required");
    expect(found.diagnostics.map(({ message }) => message)).toEqual(['unknown field "#99"']);
  });

  it("closes it, too, as the number of a value that is not known", () => {
    // presence: 15, of type enum.
    const object = decoded("RequestAuthentication", inField(2, joined(issuer, Uint8Array.of(15 << 3, 7))));
    const found = readCollected(
      { about: about.mcp, name: "s" },
      { key: "RequestAuthentication/shop/a", version: "1", object },
    );
    expect(closingOf(found)).toBe("tokens-required");
  });

  it("is ignored with a warning in an object that protects nothing", () => {
    const host = inField(1, new TextEncoder().encode("a.test"));
    const object = decoded("DestinationRule", joined(host, unknownField(99)));
    const found = readCollected(
      { about: about.mcp, name: "s" },
      { key: "DestinationRule/shop/a", version: "1", object },
    );
    expect(found.config?.spec).toEqual({ host: "a.test" });
    expect(found.diagnostics).toMatchObject([{ code: "unknown-field", severity: "warning" }]);
  });
});
