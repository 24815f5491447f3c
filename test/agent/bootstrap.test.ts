import { describe, expect, it } from "vitest";
import { bootstrapOf, controlPlaneCluster, identityCluster, restSource } from "../../lib/agent/bootstrap.ts";
import { portolanCluster, sdsCluster } from "../../lib/xds/names.ts";
import { restSource as polledSource } from "../../lib/xds/shape.ts";
import { envoyComplaint } from "../e2e/envoy.ts";

const options = {
  nodeId: "sidecar~10.0.0.5~web-0.default~default.svc.cluster.local",
  nodeCluster: "web.default",
  metadata: { NAMESPACE: "default", LABELS: { app: "web" } },
  adminPort: 0,
} as const;

describe("bootstrapOf", () => {
  it.each([
    ["plain, by address", { host: "127.0.0.1", port: 8080 }],
    ["plain, by name", { host: "portolan.example", port: 8080 }],
    ["with a token", { host: "portolan.example", port: 8080, authorizationVariable: "HOME" }],
    ["over TLS", { host: "portolan.example", port: 443, tls: { caFile: "/etc/ssl/certs/ca-certificates.crt" } }],
  ])("is taken by Envoy %s", async (_what, server) => {
    expect(await envoyComplaint(bootstrapOf({ ...options, server }))).toBe("");
  });

  it("polls as polled resources tell Envoy to", () => {
    expect(restSource()).toEqual(polledSource());
    expect([controlPlaneCluster, identityCluster]).toEqual([portolanCluster, sdsCluster]);
  });
});
