import { describe, expect, it } from "vitest";
import type { Server } from "../../../lib/config/kinds/gateway.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { sanitisedHosts, sniHostsOf } from "../../../lib/mesh/gateway/gateway-port.ts";
import { mergeGateways, portTranslations } from "../../../lib/mesh/gateway/merged-gateway.ts";
import type { ServiceTarget } from "../../../lib/registry/service.ts";
import { config, httpPort, service } from "../parts.ts";

type Short = Partial<Omit<Server, "port">> & { readonly on: string; readonly name?: string };

/** `{ on: "443 HTTPS", hosts, tls, bind }` as a server; a Gateway of its own for each. */
function merge(servers: readonly Short[], targets: readonly ServiceTarget[] = []) {
  const gateways = servers.map(({ on, name: portName, ...rest }, at) => {
    const [number = "", protocol = ""] = on.split(" ");
    const port = { number: Number(number), protocol, name: portName ?? "p" };
    return config("Gateway", `gw/g${at + 1}`, { servers: [{ hosts: ["*"], ...rest, port }] }, servers.length - at);
  });
  const { value, diagnostics } = mergeGateways(gateways, portTranslations(gateways, targets), noMemo);
  const ports = value.serverPorts.map(
    (port, at) =>
      `${port.number} ${port.protocol}${port.bind === "" ? "" : ` ${port.bind}`}: ${value.mergedServers[at]?.servers.map(({ gatewayName }) => gatewayName.slice(3)).join(" ")}`,
  );
  return {
    value,
    ports,
    codes: diagnostics.map(({ code }) => code),
    refused: diagnostics.map(({ origin }) => origin.key.name),
  };
}

const simple = { mode: "SIMPLE" } as const;
const passthrough = { mode: "PASSTHROUGH" } as const;
const a = ["a.com"];
const b = ["b.com"];

describe("servers of one workload, oldest first", () => {
  it.each<{ why: string; servers: readonly Short[]; ports: readonly string[]; codes?: readonly string[] }>([
    { why: "share a port in plain HTTP", servers: [{ on: "80 HTTP" }, { on: "80 HTTP" }], ports: ["80 HTTP: g1 g2"] },
    {
      why: "share a port as HTTP and HTTP/2",
      servers: [{ on: "80 HTTP" }, { on: "80 HTTP2" }],
      ports: ["80 HTTP: g1 g2"],
    },
    {
      why: "clash as HTTP and TCP",
      servers: [{ on: "80 HTTP" }, { on: "80 TCP" }],
      ports: ["80 HTTP: g1"],
      codes: ["gateway-port-conflict"],
    },
    {
      why: "clash as TCP and TCP",
      servers: [{ on: "80 TCP" }, { on: "80 TCP" }],
      ports: ["80 TCP: g1"],
      codes: ["gateway-port-conflict"],
    },
    {
      why: "do not clash on different addresses",
      servers: [
        { on: "80 TCP", bind: "10.0.0.1" },
        { on: "80 TCP", bind: "10.0.0.2" },
      ],
      ports: ["80 TCP 10.0.0.1: g1", "80 TCP 10.0.0.2: g2"],
    },
    {
      why: "share a TLS port by host",
      servers: [
        { on: "443 HTTPS", hosts: a, tls: simple },
        { on: "443 HTTPS", hosts: b, tls: simple },
      ],
      ports: ["443 HTTPS: g1 g2"],
    },
    {
      why: "clash on a host with TLS",
      servers: [
        { on: "443 HTTPS", hosts: a, tls: simple },
        { on: "443 HTTPS", hosts: [...b, ...a], tls: simple },
      ],
      ports: ["443 HTTPS: g1"],
      codes: ["gateway-duplicate-host"],
    },
    {
      why: "may repeat a host on another address",
      servers: [
        { on: "443 HTTPS", hosts: a, tls: simple, bind: "10.0.0.1" },
        { on: "443 HTTPS", hosts: a, tls: simple, bind: "10.0.0.2" },
      ],
      ports: ["443 HTTPS 10.0.0.1: g1", "443 HTTPS 10.0.0.2: g2"],
    },
    {
      why: "may repeat a host for different namespaces, as Istio has it",
      servers: [
        { on: "443 HTTPS", hosts: ["ns1/a.com"], tls: simple },
        { on: "443 HTTPS", hosts: ["ns2/a.com"], tls: simple },
      ],
      ports: ["443 HTTPS: g1 g2"],
    },
    {
      why: "end TLS beside one that passes it through",
      servers: [
        { on: "443 HTTPS", hosts: a, tls: simple },
        { on: "443 TLS", hosts: b, tls: passthrough },
      ],
      ports: ["443 HTTPS: g1", "443 TLS: g2"],
    },
    {
      why: "clash as HTTP and HTTPS",
      servers: [{ on: "80 HTTP" }, { on: "80 HTTPS", hosts: a, tls: simple }],
      ports: ["80 HTTP: g1"],
      codes: ["gateway-port-conflict"],
    },
    {
      why: "may be HTTPS first and plain HTTP then",
      servers: [{ on: "443 HTTPS", hosts: a, tls: simple }, { on: "443 HTTP" }],
      ports: ["443 HTTPS: g1", "443 HTTP: g2"],
    },
  ])("$why", ({ servers, ports, codes = [] }) => {
    const merged = merge(servers);
    expect(merged.ports).toEqual(ports);
    expect(merged.codes).toEqual(codes);
  });
});

describe("route names", () => {
  it("are one for all plain HTTP servers of a port, and one for each HTTPS server", () => {
    const { value } = merge([
      { on: "80 HTTP" },
      { on: "80 HTTP2" },
      { on: "443 HTTPS", hosts: a, tls: simple, name: "x" },
      { on: "443 HTTPS", hosts: b, tls: simple, name: "x" },
      { on: "9443 TLS", hosts: b, tls: passthrough },
      { on: "8080 HTTP", bind: "10.0.0.1" },
    ]);
    expect([...value.serversByRouteName].map(([name, servers]) => `${name} ${servers.length}`)).toEqual([
      "http.80 2",
      "https.443.x.g3.gw 1",
      "https.443.x.g4.gw 1",
      "http.8080.10.0.0.1 1",
    ]);
  });
});

describe("ports of the gateway's service", () => {
  const target = (port: number, targetPort: number, labels = {}): ServiceTarget => ({
    service: service({ at: "gw@gw", attributes: { labels } }),
    servicePort: httpPort(port),
    targetPort,
  });

  it("lead to the port that the workload listens on, which several may share", () => {
    const { value, ports } = merge([{ on: "80 HTTP" }, { on: "8080 HTTP" }], [target(80, 8080)]);
    expect(ports).toEqual(["8080 HTTP: g1 g2"]);
    expect([...value.serversByRouteName.keys()]).toEqual(["http.8080"]);
    expect([...(value.portMap().get(8080) ?? [])]).toEqual([80, 8080]);
  });

  it("do not change the declared port in names of HTTPS tables", () => {
    const { value, ports } = merge([{ on: "443 HTTPS", hosts: a, tls: simple }], [target(443, 8443)]);
    expect(ports).toEqual(["8443 HTTPS: g1"]);
    expect([...value.serversByRouteName.keys()]).toEqual(["https.443.p.g1.gw"]);
  });

  it("stay where a service opts out", () => {
    const optsOut = { "experimental.istio.io/disable-gateway-port-translation": "true" };
    expect(merge([{ on: "80 HTTP" }], [target(80, 8080, optsOut)]).ports).toEqual(["80 HTTP: g1"]);
  });
});

describe("a server that passes mesh mTLS on", () => {
  const mesh = { mode: "AUTO_PASSTHROUGH" } as const;

  it.each<{ why: string; servers: readonly Short[]; want: boolean }>([
    { why: "counts", servers: [{ on: "443 TLS", hosts: a, tls: mesh }], want: true },
    {
      why: "counts without a place on its port",
      servers: [{ on: "443 HTTP" }, { on: "443 TLS", hosts: a, tls: mesh }],
      want: true,
    },
    {
      why: "does not count if its host is taken",
      servers: [
        { on: "443 HTTPS", hosts: a, tls: simple },
        { on: "443 TLS", hosts: a, tls: mesh },
      ],
      want: false,
    },
  ])("$why", ({ servers, want }) => {
    expect(merge(servers).value.containsAutoPassthrough).toBe(want);
  });
});

describe("hosts of a server in namespace gw", () => {
  it.each([
    { hosts: ["./a"], want: ["gw/a"] },
    { hosts: ["*/b"], want: ["b"] },
    { hosts: ["*/*", "c"], want: ["*"] },
    { hosts: ["ns/d"], want: ["ns/d"] },
  ])("$hosts read as $want", ({ hosts, want }) => {
    expect(sanitisedHosts(hosts, "gw")).toEqual(want);
  });

  it("have SNI names without namespace, once each and sorted", () => {
    const { value } = merge([{ on: "443 HTTPS", hosts: ["ns2/b.com", "ns1/b.com", "a.com"], tls: simple }]);
    expect(sniHostsOf(value.mergedServers[0]?.servers[0]?.server.hosts ?? [])).toEqual(["a.com", "b.com"]);
  });
});
