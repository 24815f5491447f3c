import { describe, expect, it } from "vitest";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { gatewayLeftOut, gatewaysFor } from "../../../lib/mesh/gateway/workload-gateways.ts";
import { config, httpPort, service } from "../parts.ts";

describe("the Gateways of a workload", () => {
  const gate = service({ at: "edge-istio.gw.svc.cluster.local@gw" });
  const targets = [{ service: gate, servicePort: httpPort(80), targetPort: 80 }];
  const server = { hosts: ["*"], port: { number: 80, protocol: "HTTP", name: "p" } };
  const classic = (key: string, labels = { app: "edge" }) =>
    config("Gateway", key, { selector: labels, servers: [server] });
  const made = (key: string, deployed: boolean) =>
    config("Gateway", key, { servers: [server] }, 0, {
      "internal.istio.io/gateway-service": gate.hostname,
      "internal.istio.io/parent-namespace": "gw",
      ...(deployed ? { "internal.istio.io/service-account-name": "edge-istio" } : {}),
    });
  const found = (deployed: boolean, mergesGatewaysAcrossNamespaces: boolean) =>
    gatewaysFor(
      [
        made("gw/k8s", deployed),
        made("team/set", false),
        classic("gw/a"),
        classic("other/b"),
        classic("gw/c", { app: "x" }),
      ],
      { app: "edge" },
      () => targets,
      { mergesGatewaysAcrossNamespaces },
    );
  const namesOf = (...of: Parameters<typeof found>) =>
    found(...of).gateways.map(({ meta }) => `${meta.namespace}/${meta.name}`);

  it("are those of its services and those that select it", () => {
    expect(namesOf(true, true)).toEqual(["gw/k8s", "team/set", "gw/a", "other/b"]);
  });

  it("are not Istio's of other namespaces where it was deployed for one, if the release says so", () => {
    expect(namesOf(true, false)).toEqual(["gw/k8s", "team/set", "gw/a"]);
    expect(namesOf(false, false)).toEqual(["gw/k8s", "team/set", "gw/a", "other/b"]);
    const said = found(true, false).leftOut.map((one) => gatewayLeftOut(createMemo(), one));
    expect(said.map(({ code, origin, hint }) => [code, origin.key.namespace, hint])).toEqual([
      ["no-effect", "other", expect.stringContaining("move it to namespace gw")],
    ]);
  });
});
