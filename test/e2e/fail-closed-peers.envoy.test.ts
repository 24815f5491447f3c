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
          patch: { operation: "INSERT_FIRST", value: { name: "envoy.filters.http.rbac", typed_config: typedConfig } },
        },
      ],
    }),
  ];
  const type = { "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC" };
  it("denies every request where the filter cannot be read", async () => {
    const mesh = await startSidecars(() => filter({ ...type, rules: { action: "DENNY" } }), "shared", true);
    try {
      expect((await mesh.ask("client", "/")).status).toBe(403);
    } finally {
      await mesh.stop();
    }
  }, 60_000);
});
