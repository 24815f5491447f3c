import { describe, expect, it } from "vitest";
import type { MutualTLS, PeerAuthentication } from "../../../lib/config/kinds/peer-authentication.ts";
import { indexPeerAuthentications } from "../../../lib/mesh/index/peer-authentication.ts";
import { config } from "../parts.ts";

const of = (key: string, mode: NonNullable<MutualTLS["mode"]>, more: Partial<PeerAuthentication> = {}) =>
  config<PeerAuthentication>("PeerAuthentication", key, { mtls: { mode }, ...more });
const appX = { selector: { matchLabels: { app: "x" } } };

describe("mutual TLS of workload app=x in ns1", () => {
  it.each([
    { why: "no policy", policies: [], port80: "PERMISSIVE", namespace: undefined },
    { why: "mesh", policies: [of("istio-system/m", "STRICT")], port80: "STRICT", namespace: "STRICT" },
    {
      why: "unset namespace",
      policies: [of("istio-system/m", "STRICT"), of("ns1/n", "UNSET")],
      port80: "STRICT",
      namespace: "STRICT",
    },
    {
      why: "the older of two",
      policies: [of("istio-system/m", "STRICT"), of("ns1/a", "DISABLE"), of("ns1/b", "STRICT")],
      port80: "DISABLE",
      namespace: "DISABLE",
    },
    {
      why: "port level",
      policies: [
        of("ns1/n", "STRICT"),
        of("ns1/w", "PERMISSIVE", { ...appX, portLevelMtls: { "80": { mode: "DISABLE" }, "81": { mode: "UNSET" } } }),
      ],
      port80: "DISABLE",
      port81: "PERMISSIVE",
      namespace: "STRICT",
    },
    {
      why: "all unset under a strict mesh",
      policies: [
        of("istio-system/m", "STRICT"),
        of("ns1/w", "UNSET", { ...appX, portLevelMtls: { "80": { mode: "UNSET" } } }),
      ],
      port80: "STRICT",
      namespace: "STRICT",
    },
    {
      why: "a selector in the root namespace",
      policies: [of("istio-system/r", "DISABLE", appX)],
      port80: "PERMISSIVE",
      namespace: undefined,
    },
    {
      why: "an unset mesh policy",
      policies: [of("istio-system/m", "UNSET")],
      port80: "PERMISSIVE",
      namespace: "PERMISSIVE",
    },
  ])("with $why", ({ policies, port80, port81, namespace }) => {
    const index = indexPeerAuthentications(policies, "istio-system").value;
    expect(index.workloadMode("ns1", { app: "x" }, 80)).toBe(port80);
    if (port81 !== undefined) expect(index.workloadMode("ns1", { app: "x" }, 81)).toBe(port81);
    expect(index.namespaceMode("ns1")).toBe(namespace);
  });
});

it("reports policies that apply to nothing", () => {
  const { diagnostics } = indexPeerAuthentications(
    [of("ns1/a", "STRICT"), of("ns1/b", "STRICT"), of("istio-system/r", "DISABLE", appX)],
    "istio-system",
  );
  expect(diagnostics.map(({ code, origin }) => `${code} ${origin.key.name}`)).toEqual([
    "peer-authentication-shadowed b",
    "peer-authentication-root-selector r",
  ]);
});
