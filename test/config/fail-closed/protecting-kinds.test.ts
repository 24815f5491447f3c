import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Fields, isFields } from "../../../lib/base/untyped.ts";
import { readCollected } from "../../../lib/compile/collected/read-collected.ts";
import { protections } from "../../../lib/config/fail-closed/protections.ts";
import { kindSchemas, schemaOf } from "../../../lib/config/kind-registry.ts";
import { fieldsAt } from "../../../lib/config/schema/message.ts";

/** A valid spec of each kind that closes, which protects with each of its fields. */
const samples: Readonly<Record<string, Fields>> = {
  "security.istio.io/AuthorizationPolicy": {
    selector: { matchLabels: { app: "web" } },
    action: "DENY",
    rules: [
      {
        from: [{ source: { principals: ["a"], notIpBlocks: ["10.0.0.0/8"] } }],
        to: [{ operation: { paths: ["/a"], notMethods: ["GET"] } }],
        when: [{ key: "request.headers[a]", values: ["b"] }],
      },
    ],
  },
  "security.istio.io/PeerAuthentication": {
    selector: { matchLabels: { app: "web" } },
    mtls: { mode: "STRICT" },
    portLevelMtls: { 80: { mode: "STRICT" } },
  },
  "security.istio.io/RequestAuthentication": {
    selector: { matchLabels: { app: "web" } },
    jwtRules: [{ issuer: "a", jwksUri: "https://a.example/keys", fromHeaders: [{ name: "x-token" }] }],
  },
  "networking.istio.io/DestinationRule": {
    host: "bank",
    workloadSelector: { matchLabels: { app: "web" } },
    trafficPolicy: {
      tls: { mode: "MUTUAL", clientCertificate: "/c", privateKey: "/k", caCertificates: "/ca" },
      portLevelSettings: [{ port: { number: 80 }, tls: { mode: "SIMPLE" } }],
    },
    subsets: [{ name: "a", trafficPolicy: { tls: { mode: "SIMPLE", sni: "a" } } }],
  },
  "networking.istio.io/EnvoyFilter": {
    workloadSelector: { labels: { app: "web" } },
    configPatches: [
      {
        applyTo: "HTTP_FILTER",
        match: { context: "SIDECAR_INBOUND" },
        patch: {
          operation: "INSERT_BEFORE",
          value: {
            name: "guard",
            typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC" },
          },
        },
      },
    ],
  },
  "networking.istio.io/Sidecar": {
    workloadSelector: { labels: { app: "web" } },
    egress: [{ hosts: ["./*"] }],
    outboundTrafficPolicy: { mode: "REGISTRY_ONLY" },
  },
  "extensions.istio.io/WasmPlugin": { url: "oci://r.example/a:1", phase: "AUTHN", pluginConfig: { a: 1 } },
  "extensions.istio.io/TrafficExtension": { phase: "AUTHZ", wasm: { url: "oci://r.example/a:1" } },
  "gateway.networking.k8s.io/BackendTLSPolicy": {
    targetRefs: [{ group: "", kind: "Service", name: "bank" }],
    validation: { hostname: "bank.example", wellKnownCACertificates: "System" },
  },
  "authentication.istio.io/Policy": { targets: [{ name: "web" }], peers: [{ mtls: {} }] },
  "authentication.istio.io/MeshPolicy": { peers: [{ mtls: {} }] },
  "rbac.istio.io/RbacConfig": { mode: "ON_WITH_INCLUSION", inclusion: { services: ["a"] } },
  "rbac.istio.io/ClusterRbacConfig": { mode: "ON_WITH_INCLUSION", inclusion: { services: ["a"] } },
};
const meshWide = new Set(["MeshPolicy", "ClusterRbacConfig"]);

/** What an object comes to that a cluster holds. */
function collected(of: string, spec: unknown) {
  const [group = "", kind = ""] = of.split("/");
  const version = schemaOf(group, kind)?.versions[0] ?? "";
  const name = kind === "RbacConfig" || kind === "ClusterRbacConfig" || kind === "MeshPolicy" ? "default" : "a";
  const metadata = { name, ...(meshWide.has(kind) ? {} : { namespace: "shop" }) };
  const object = { apiVersion: `${group}/${version}`, kind, metadata, spec };
  const about = { kind: "kubernetes", cluster: "c" } as const;
  const read = readCollected({ about, name: "s" }, { key: `${of}/shop/a`, version: "1", object });
  return { ...read, codes: read.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code) };
}

/** As a hand slips: two letters in the wrong order, or one too many where that changes nothing. */
function misspelt(name: string): string {
  const swapped = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;
  return name.length < 2 || swapped === name ? `${name}x` : swapped;
}

/** A value with one of its fields misspelt, for each of them; what has any form is not gone into. */
function* slips(value: unknown, path = ""): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries())
      for (const [at, with_] of slips(one, `${path}[${index}]`)) yield [at, value.with(index, with_)];
  } else if (isFields(value)) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _gone, ...others } = value;
      const at = `${path}.${name}`;
      if (!anyForm.test(at)) yield [at, { ...others, [misspelt(name)]: member }];
      if (!anyForm.test(`${at}.`))
        for (const [below, with_] of slips(member, at)) yield [below, { ...value, [name]: with_ }];
    }
  }
}

/** Maps with names of one's own, and values of any form: a wrong name there is another name. */
const anyForm = /\.(?:matchLabels|labels|portLevelMtls|pluginConfig|value)\./;

/** Every field of a schema, by its path; lists and maps have one element. */
function* paths(of: string, path: readonly string[] = []): Generator<readonly string[]> {
  const [group = "", kind = ""] = of.split("/");
  const { schema } = schemaOf(group, kind) ?? {};
  if (schema === undefined || path.length > 8) return;
  for (const name of fieldsAt(schema, path)) {
    yield [...path, name];
    for (const below of [
      [...path, name],
      [...path, name, "0"],
    ])
      if (fieldsAt(schema, below).length > 0) yield* paths(of, below);
  }
}

/** The sample with a field that is not known beside a known one; what leads there is made where it is missing. */
function beside(value: unknown, [step = "", ...rest]: readonly string[], asList: boolean): unknown {
  if (rest.length === 0) return { ...(isFields(value) ? value : {}), [misspelt(step)]: {} };
  const known = Array.isArray(value) ? value[0] : isFields(value) ? value[step] : undefined;
  const below = beside(known, rest, asList);
  if (step === "0" && asList) return [below];
  return { ...(isFields(value) ? value : {}), [step]: below };
}

describe("the table of protecting kinds", () => {
  it("has a decision for every kind that is read, and for no other", () => {
    expect([...protections.keys()].sort()).toEqual(kindSchemas.map(({ group, kind }) => `${group}/${kind}`).sort());
  });

  it("has a sample of each kind that closes, which is valid", () => {
    const closing = [...protections].flatMap(([of, { refused }]) => (refused === "closes" ? [of] : []));
    expect(Object.keys(samples).sort()).toEqual(closing.sort());
    for (const [of, spec] of Object.entries(samples)) expect([of, collected(of, spec).codes]).toEqual([of, []]);
  });

  it("is documented, kind by kind", () => {
    const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/policies.md"), "utf8");
    const [, table = ""] = /<!-- kinds -->\n([\s\S]*?)<!-- end -->/.exec(docs) ?? [];
    const missing = [...protections.keys()]
      .map((of) => of.replace(/^.*\//, ""))
      .filter((kind) => !table.includes(kind));
    expect(missing).toEqual([]);
  });
});

describe.each(Object.entries(samples))("a misspelt field of a cluster's %s", (of, sample) => {
  it.each([...slips(sample)])("is refused, and closes: %s", (_path, spec) => {
    const { config, isRefused, closed } = collected(of, spec);
    expect([config, isRefused]).toEqual([undefined, true]);
    // A rule or policy that names nothing that it applies to is left out, which is documented.
    if (!/^\.(?:host|targetRefs)/.test(_path)) expect(closed).toBeDefined();
  });

  it("is refused wherever a field may stand", () => {
    const ignored = [...paths(of)].filter((path) =>
      [true, false].every((asList) => !collected(of, beside(sample, path, asList)).codes.includes("unknown-field")),
    );
    expect(ignored.map((path) => path.join("."))).toEqual([]);
  });
});

describe.each([...protections].filter(([, { unknown, refused }]) => unknown === "all" && refused === "absent"))(
  "a field that is not known in a %s",
  (of) => {
    it("refuses the object, wherever it stands", () => {
      const ignored = [...paths(of)].filter((path) =>
        [true, false].every((asList) => !collected(of, beside({}, path, asList)).codes.includes("unknown-field")),
      );
      expect(ignored.map((path) => path.join("."))).toEqual([]);
    });
  },
);
