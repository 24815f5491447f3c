import type { ClientTLSSettings, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Endpoint } from "../../registry/service.ts";
import { subsetOf } from "../clusters/traffic-policy.ts";
import type { EndpointContext } from "./endpoint-context.ts";

type TlsMode = NonNullable<ClientTLSSettings["mode"]>;

/** TLS mode that a rule states for one subset and port. @param inherits a silent subset has that of its host */
function statedMode(
  rule: MeshDestinationRule | undefined,
  subset: string,
  port: number,
  inherits: boolean,
): TlsMode | undefined {
  const ofHost = rule?.config.spec.trafficPolicy;
  if (subset === "") return modeIn(ofHost, port);
  return modeIn(subsetOf(rule, subset)?.trafficPolicy, port) ?? (inherits ? modeIn(ofHost, port) : undefined);
}

function modeIn(policy: TrafficPolicy | undefined, port: number): TlsMode | undefined {
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
  { mesh, workloadMtlsMode }: Pick<EndpointContext, "mesh" | "workloadMtlsMode">,
  rule: MeshDestinationRule | undefined,
  subset: string,
  port: number,
): (endpoint: Endpoint) => boolean {
  const mode = statedMode(rule, subset, port, mesh.rules.endpointTlsOfHostForSubsets);
  return (endpoint) => {
    if (endpoint.tlsMode !== "istio") return false;
    if (mode !== undefined) return mode === "ISTIO_MUTUAL";
    return workloadMtlsMode(endpoint.namespace, endpoint.labels, endpoint.port) !== "DISABLE";
  };
}
