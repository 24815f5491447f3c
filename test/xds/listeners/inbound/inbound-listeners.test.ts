import { describe, expect, it } from "vitest";
import type { MutualTlsMode } from "../../../../lib/mesh/views/views.ts";
import { inboundChainKinds } from "../../../../lib/xds/listeners/inbound/inbound-chains.ts";
import { inboundInspectors } from "../../../../lib/xds/listeners/inspector.ts";
import { listenersOf } from "../small-world.ts";

describe("the chains of an inbound port", () => {
  it.each<[MutualTlsMode, "HTTP" | "TCP" | "auto", number, number]>([
    ["STRICT", "HTTP", 1, 1],
    ["STRICT", "TCP", 1, 1],
    ["STRICT", "auto", 2, 2],
    ["PERMISSIVE", "HTTP", 2, 1],
    ["PERMISSIVE", "TCP", 3, 1],
    ["PERMISSIVE", "auto", 5, 2],
    ["DISABLE", "HTTP", 1, 0],
    ["DISABLE", "TCP", 1, 0],
    ["DISABLE", "auto", 2, 0],
  ])("in mode %s for a %s port are %i, of which %i end mesh TLS", (mode, protocol, count, terminating) => {
    const kinds = inboundChainKinds(mode, protocol);
    expect(kinds).toHaveLength(count);
    expect(kinds.filter((kind) => kind.terminates)).toHaveLength(terminating);
  });

  it("are told apart by what they match", () => {
    for (const mode of ["STRICT", "PERMISSIVE", "DISABLE"] as const) {
      for (const protocol of ["HTTP", "TCP", "auto"] as const) {
        const matches = inboundChainKinds(mode, protocol).map(
          (kind) => `${kind.transportProtocol} ${kind.applicationProtocols}`,
        );
        expect(new Set(matches).size).toBe(matches.length);
      }
    }
  });
});

describe("the inspectors of an inbound listener", () => {
  const filters = (needs: Record<number, [tls: boolean, http: boolean]>) =>
    inboundInspectors(new Map(Object.entries(needs).map(([port, [tls, http]]) => [Number(port), { tls, http }]))).map(
      ({ name = "", filterDisabled }) => [name.slice("envoy.filters.listener.".length), filterDisabled],
    );
  const range = (port: number) => ({ destinationPortRange: { start: port, end: port + 1 } });

  it("are left out where no port needs them", () => {
    expect(filters({ 0: [false, false], 80: [false, false] })).toEqual([]);
  });

  it("are switched off by a plain range for one port, and by an `or` for several, in order", () => {
    expect(filters({ 0: [true, true], 15006: [false, false] })).toEqual([
      ["tls_inspector", range(15006)],
      ["http_inspector", range(15006)],
    ]);
    expect(filters({ 0: [true, true], 15006: [false, false], 8080: [true, false] })).toEqual([
      ["tls_inspector", range(15006)],
      ["http_inspector", { orMatch: { rules: [range(8080), range(15006)] } }],
    ]);
  });

  it("look for TLS only on the ports that need it when the rest does not", () => {
    expect(filters({ 0: [false, false], 80: [true, false], 90: [true, false] })).toEqual([
      ["tls_inspector", { notMatch: { orMatch: { rules: [range(80), range(90)] } } }],
    ]);
  });
});

const workload = `
apiVersion: v1
kind: Service
metadata: {name: srv, namespace: default}
spec:
  clusterIP: 10.0.0.1
  selector: {app: srv}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: tcp, port: 81, targetPort: 8081}]
---
apiVersion: v1
kind: Pod
metadata: {name: srv-1, namespace: default, labels: {app: srv, security.istio.io/tlsMode: istio}}
spec: {serviceAccountName: srv, containers: [{name: c, image: i, ports: [{containerPort: 8080}, {containerPort: 8081}]}]}
status: {podIP: 10.1.0.9, podIPs: [{ip: 10.1.0.9}], phase: Running, conditions: [{type: Ready, status: "True"}]}
`;
const node = { name: "srv-1", ip: "10.1.0.9", labels: { app: "srv" } };

describe("the inbound listener of a workload", () => {
  it("has a chain set for each target port, behind the black hole and the pass-through", () => {
    const { at } = listenersOf({ input: workload, node });
    const names = [...Array(11).keys()].map((index) => at("virtualInbound", "filterChains", index, "name"));
    expect(names).toEqual([
      "virtualInbound-blackhole",
      "virtualInbound-catchall-http",
      "virtualInbound-catchall-http",
      "virtualInbound",
      "virtualInbound",
      "virtualInbound",
      "0.0.0.0_8080",
      "0.0.0.0_8080",
      "0.0.0.0_8081",
      "0.0.0.0_8081",
      "0.0.0.0_8081",
    ]);
  });

  it("adds pass-through chains for a port that only a PeerAuthentication names", () => {
    const policy = `
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: p, namespace: default}
spec:
  selector: {matchLabels: {app: srv}}
  mtls: {mode: STRICT}
  portLevelMtls: {"9999": {mode: DISABLE}, "8080": {mode: DISABLE}}
`;
    const { at } = listenersOf({ input: workload + policy, node });
    const ports = [...Array(7).keys()].map((index) =>
      at("virtualInbound", "filterChains", index, "filterChainMatch", "destinationPort"),
    );
    expect(ports).toEqual([15006, undefined, undefined, 9999, 9999, 8080, 8081]);
  });

  it("does not exist without interception, and then a Sidecar's ports bind for themselves", () => {
    const sidecar = `
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: s, namespace: default}
spec:
  workloadSelector: {labels: {app: srv}}
  ingress: [{port: {number: 9080, protocol: HTTP, name: http}, bind: 127.0.0.1, defaultEndpoint: "127.0.0.1:8080"}]
`;
    const none = { ...node, metadata: { INTERCEPTION_MODE: "NONE" } };
    expect(listenersOf({ input: workload, node: none }).names).not.toContain("virtualInbound");
    const { names, at } = listenersOf({ input: workload + sidecar, node: none });
    expect(names).toContain("127.0.0.1_9080");
    expect(at("127.0.0.1_9080", "filterChains", 0, "metadata", "filterMetadata", "istio", "config")).toBe(
      "/apis/networking.istio.io/v1/namespaces/default/sidecar/s",
    );
    expect(at("127.0.0.1_9080", "bindToPort")).toBeUndefined();
  });
});
