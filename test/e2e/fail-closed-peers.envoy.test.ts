import { describe, expect, it } from "vitest";
import { istio, startSidecars } from "./sidecars.ts";

const peers = (spec: object) => [istio("PeerAuthentication", "security/v1", "server", spec)];
const server = { selector: { matchLabels: { app: "server" } } };

describe("a sidecar whose PeerAuthentication never was valid", () => {
  it.each([
    ["a mode that is none", { ...server, mtls: { mode: "STRICKT" } }],
    ["a port that is none", { ...server, mtls: { mode: "PERMISSIVE" }, portLevelMtls: { http: { mode: "DISABLE" } } }],
    ["a selector that cannot be read", { selector: { labels: { app: "server" } }, mtls: { mode: "STRICT" } }],
  ])(
    "takes mutual TLS only, for %s",
    async (_what, spec) => {
      const mesh = await startSidecars(() => peers(spec), "shared", true);
      try {
        await expect(mesh.askPlainly("/")).rejects.toThrow();
        expect((await mesh.ask("client", "/")).status).toBe(200);
      } finally {
        await mesh.stop();
      }
    },
    60_000,
  );

  it("takes plain text, too, where the policy says so", async () => {
    const mesh = await startSidecars(() => peers({ ...server, mtls: { mode: "PERMISSIVE" } }));
    try {
      expect((await mesh.askPlainly("/")).status).toBe(200);
    } finally {
      await mesh.stop();
    }
  }, 60_000);
});

describe("a sidecar whose EnvoyFilter was to insert a filter that decides who may pass", () => {
  const filter = (typedConfig: object) => [
    istio("EnvoyFilter", "networking/v1alpha3", "guard", {
      workloadSelector: { labels: { app: "server" } },
      configPatches: [
        {
          applyTo: "HTTP_FILTER",
          match: { context: "SIDECAR_INBOUND" },
          patch: { operation: "INSERT_FIRST", value: { name: "own", typed_config: typedConfig } },
        },
      ],
    }),
  ];
  const type = (name: string) => ({ "@type": `type.googleapis.com/envoy.extensions.filters.http.${name}` });
  it.each([
    ["the filter cannot be read", { ...type("rbac.v3.RBAC"), rules: { action: "DENNY" } }, 403],
    ["its code is under a misspelt name", { ...type("lua.v3.Lua"), default_source_cod: { inline_string: "" } }, 403],
    ["its type is not known", { "@type": "type.googleapis.com/example.Guard" }, 403],
    [
      "it is a wrong form of one that is known to be harmless",
      { ...type("buffer.v3.Buffer"), max_request_bytes: "x" },
      200,
    ],
  ])(
    "answers as it has to where %s",
    async (_what, config, status) => {
      const mesh = await startSidecars(() => filter(config), "shared", true);
      try {
        expect((await mesh.ask("client", "/")).status).toBe(status);
      } finally {
        await mesh.stop();
      }
    },
    60_000,
  );
});

describe("a sidecar that calls a host whose DestinationRule has its TLS under a misspelt name", () => {
  it("gets no connection: it would be in plain text", async () => {
    const rule = istio("DestinationRule", "networking/v1", "server", {
      host: "server",
      trafficPolicy: { tsl: { mode: "MUTUAL", clientCertificate: "/c", privateKey: "/k", caCertificates: "/ca" } },
    });
    const mesh = await startSidecars(() => [rule], "shared", true);
    try {
      expect((await mesh.ask("client", "/")).status).toBe(503);
    } finally {
      await mesh.stop();
    }
  }, 60_000);
});
