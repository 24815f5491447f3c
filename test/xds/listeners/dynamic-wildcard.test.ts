import { describe, expect, it } from "vitest";
import { listenersOf } from "./small-world.ts";

const outside = (namespace: string): string => `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: outside, namespace: ${namespace}}
spec:
  hosts: ["*.example.com"]
  location: MESH_EXTERNAL
  resolution: DYNAMIC_DNS
  ports: [{number: 443, name: tls, protocol: TLS}]
`;

const deny = (namespace: string, app = "client"): string => `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: deny, namespace: ${namespace}}
spec: {action: DENY, selector: {matchLabels: {app: ${app}}}, rules: [{from: [{source: {ipBlocks: [1.2.3.4]}}]}]}
`;

/** Policies of the RBAC filter in front of the hosts outside. */
function policiesBefore(input: string): readonly string[] {
  const rules = listenersOf({ input }).at("0.0.0.0_443", "filterChains", 0, "filters", 0, "typedConfig", "rules");
  return JSON.stringify(rules ?? {}).match(/ns\[[^"]*(?=":\{)/g) ?? [];
}

describe("hosts that are resolved at run time", () => {
  it("are called through the policies of the client", () => {
    expect(policiesBefore(outside("default") + deny("default"))).toEqual(["ns[default]-policy[deny]-rule[0]"]);
  });

  it("are called through the policies of their own namespace that select the client", () => {
    expect(policiesBefore(outside("other") + deny("other"))).toEqual(["ns[other]-policy[deny]-rule[0]"]);
    expect(policiesBefore(outside("other") + deny("other", "server"))).toEqual([]);
    expect(policiesBefore(outside("other") + deny("third"))).toEqual([]);
  });
});
