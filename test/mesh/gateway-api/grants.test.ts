import { describe, expect, it } from "vitest";
import { compile } from "../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { resourcesIn } from "../../../lib/snapshot/compiled.ts";

/** A gateway of another team that asks for the shop's certificate. */
const asking = (kind: "Gateway" | "ListenerSet") => `
apiVersion: v1
kind: Service
metadata: { name: edge, namespace: team }
spec: { selector: { app: edge }, ports: [{ name: https, port: 443 }] }
---
apiVersion: v1
kind: Pod
metadata: { name: edge-1, namespace: team, labels: { app: edge } }
spec: { containers: [{ name: istio-proxy, args: [proxy, router] }] }
status: { phase: Running, podIP: 10.0.0.1, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: team }
spec:
  gatewayClassName: istio
  addresses: [{ type: Hostname, value: edge }]
  allowedListeners: { namespaces: { from: Same } }
  listeners: [{ name: web, ${kind === "Gateway" ? tls("shop.example.com", 443) : "port: 80, protocol: HTTP"} }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: more, namespace: team }
spec:
  parentRef: { name: edge }
  listeners: [{ name: more, ${kind === "ListenerSet" ? tls("shop.example.com", 443) : "port: 81, protocol: HTTP"} }]
`;
const tls = (hostname: string, port: number): string =>
  `hostname: ${hostname}, port: ${port}, protocol: HTTPS, tls: { certificateRefs: [{ name: cert, namespace: shop }] }`;

interface Grant {
  readonly namespace?: string;
  readonly from?: string;
  readonly to?: string;
}
const grant = ({
  namespace = "shop",
  from = "group: gateway.networking.k8s.io, kind: Gateway, namespace: team",
  to = 'group: "", kind: Secret',
}: Grant): string => `---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: grant, namespace: ${namespace} }
spec: { from: [{ ${from} }], to: [{ ${to} }] }
`;

/** Whether any resource names the certificate, and what the listener is told. */
function outcome(text: string): readonly [isNamed: boolean, reason: string | undefined] {
  const memo = createMemo();
  const world = worldOf(readFiles([{ file: "a.yaml", text }]), defaultWorldOptions, memo).value;
  const { classes, statuses } = compile(world, [], memo).value;
  const texts = classes.flatMap(({ stream, poll }) =>
    [stream, poll].flatMap((shape) => resourcesIn(shape.listeners).map((listener) => listener.text)),
  );
  expect(classes.length).toBeGreaterThan(0);
  const reason = /RefNotPermitted/.exec(JSON.stringify(statuses))?.[0];
  return [texts.some((one) => one.includes("kubernetes-gateway://shop/cert")), reason];
}

describe("a certificate of another namespace", () => {
  it("is named where a grant beside it says so, of the very kinds, namespaces and name", () => {
    expect(outcome(asking("Gateway") + grant({}))).toEqual([true, undefined]);
    expect(outcome(asking("Gateway") + grant({ to: 'group: "", kind: Secret, name: cert' }))).toEqual([
      true,
      undefined,
    ]);
    const from = "group: gateway.networking.k8s.io, kind: ListenerSet, namespace: team";
    expect(outcome(asking("ListenerSet") + grant({ from }))).toEqual([true, undefined]);
  });

  it.each([
    ["no grant", ""],
    ["a grant in the namespace of whoever asks", grant({ namespace: "team" })],
    ["a grant in a third namespace", grant({ namespace: "other" })],
    [
      "a grant for another namespace",
      grant({ from: "group: gateway.networking.k8s.io, kind: Gateway, namespace: other" }),
    ],
    [
      "a grant for every namespace, which there is none",
      grant({ from: 'group: gateway.networking.k8s.io, kind: Gateway, namespace: "*"' }),
    ],
    ["a grant for routes", grant({ from: "group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team" })],
    [
      "a grant for a kind of another group",
      grant({ from: "group: networking.istio.io, kind: Gateway, namespace: team" }),
    ],
    ["a grant to services", grant({ to: 'group: "", kind: Service' })],
    ["a grant to another secret", grant({ to: 'group: "", kind: Secret, name: other' })],
    ["a grant to every name, which is a name like any other", grant({ to: 'group: "", kind: Secret, name: "*"' })],
  ])("is not named with %s", (_what, given) => {
    for (const kind of ["Gateway", "ListenerSet"] as const)
      expect(outcome(asking(kind) + given)).toEqual([false, "RefNotPermitted"]);
  });

  it("of a Gateway's grant is not its ListenerSet's", () => {
    expect(outcome(asking("ListenerSet") + grant({}))).toEqual([false, "RefNotPermitted"]);
  });
});
