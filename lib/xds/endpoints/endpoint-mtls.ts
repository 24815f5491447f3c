import type { ClientTLSSettings, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Endpoint } from "../../registry/service.ts";
import { subsetOf } from "../clusters/traffic-policy.ts";
import type { Sight } from "./sight.ts";

/** TLS mode that a rule states for one subset and port; a subset does not inherit it from its host. */
function statedMode(
  rule: MeshDestinationRule | undefined,
  subset: string,
  port: number,
): NonNullable<ClientTLSSettings["mode"]> | undefined {
  const policy: TrafficPolicy | undefined =
    subset === "" ? rule?.config.spec.trafficPolicy : subsetOf(rule, subset)?.trafficPolicy;
  const entry = policy?.portLevelSettings?.find((setting) => setting.port.number === port && setting.tls !== undefined);
  const tls = entry?.tls ?? policy?.tls;
  return tls === undefined ? undefined : (tls.mode ?? "DISABLE");
}

/**
 * Says which endpoints of one subset and port clients speak Istio's mTLS to. A rule decides for all of them; else the
 * endpoint has to have a proxy that no PeerAuthentication tells to take plain text only.
 *
 * @see docs/how-istio-does-it/endpoints.md#fields-of-an-endpoint
 */
export function mtlsDecision(
  { workloadMtlsMode }: Pick<Sight, "workloadMtlsMode">,
  rule: MeshDestinationRule | undefined,
  subset: string,
  port: number,
): (endpoint: Endpoint) => boolean {
  const mode = statedMode(rule, subset, port);
  return (endpoint) => {
    if (endpoint.tlsMode !== "istio") return false;
    if (mode !== undefined) return mode === "ISTIO_MUTUAL";
    return workloadMtlsMode(endpoint.namespace, endpoint.labels, endpoint.port) !== "DISABLE";
  };
}
