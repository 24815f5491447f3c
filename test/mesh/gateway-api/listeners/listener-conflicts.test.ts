import { describe, expect, it } from "vitest";
import type { Config } from "../../../../lib/config/config.ts";
import type { KubernetesGateway, Listener, ListenerSet } from "../../../../lib/config/gateway-api/gateway.ts";
import { conflictOf, listenerConflicts } from "../../../../lib/mesh/gateway-api/listeners/listener-conflicts.ts";
import { config } from "../../parts.ts";

const sameNamespace = { namespaces: { from: "Same" } } as const;

/** `name 443 HTTPS a.com` */
function listener(text: string): Listener {
  const [name = "", port = "", protocol = "", hostname] = text.split(" ");
  const host = hostname === undefined ? {} : { hostname };
  return { name, port: Number(port), protocol, allowedRoutes: sameNamespace, ...host };
}

const gateway = (...listeners: string[]): Config<KubernetesGateway> =>
  config("Gateway", "ns/gw", { gatewayClassName: "istio", listeners: listeners.map(listener) });
const set = (name: string, age: number, ...listeners: string[]): Config<ListenerSet> =>
  config(
    "ListenerSet",
    `ns/${name}`,
    { parentRef: { group: "", kind: "", name: "gw" }, listeners: listeners.map(listener) },
    age,
  );

describe("listeners of one Gateway", () => {
  it.each([
    [["a 80 HTTP a.com", "b 80 HTTP b.com", "c 81 HTTP a.com"], {}],
    [["a 443 HTTPS a.com", "b 443 TLS b.com"], {}],
    [["a 80 example.com/one", "b 80 example.com/two", "c 80 HTTP"], {}],
    [["a 80 HTTP a.com", "b 80 HTTP a.com"], { b: "HostnameConflict" }],
    [["a 80 HTTP", "b 80 HTTP *"], { b: "HostnameConflict" }],
    [["a 443 HTTPS a.com", "b 443 TLS a.com"], { b: "ProtocolConflict" }],
    [["a 80 TCP", "b 80 HTTP a.com"], { b: "ProtocolConflict" }],
    [["a 80 TCP", "b 80 TCP", "c 80 UDP"], { b: "ProtocolConflict", c: "ProtocolConflict" }],
    [["a 80 example.com/one", "b 80 example.com/one"], { b: "HostnameConflict" }],
  ] as const)("conflict with an earlier one: %j", (listeners, want) => {
    expect(listenerConflicts(gateway(...listeners), []).ofGateway).toEqual(want);
  });

  it("are told apart from what every object has", () => {
    expect(conflictOf("constructor", {})).toBeUndefined();
    expect(conflictOf("b", { b: "HostnameConflict" })).toBe("HostnameConflict");
  });

  it("come before those of ListenerSets, the oldest of these first, and one that loses holds no place", () => {
    const of = gateway("a 80 HTTP a.com", "lost 80 TCP");
    const younger = set("younger", 1, "b 80 HTTP b.com", "c 80 HTTP a.com");
    const older = set("older", 2, "b 80 HTTP b.com", "tls 443 HTTPS a.com");
    const { ofGateway, ofListenerSets } = listenerConflicts(of, [younger, older]);
    expect(ofGateway).toEqual({ lost: "ProtocolConflict" });
    expect(ofListenerSets.get(older)).toEqual({});
    expect(ofListenerSets.get(younger)).toEqual({ b: "HostnameConflict", c: "HostnameConflict" });
  });
});
