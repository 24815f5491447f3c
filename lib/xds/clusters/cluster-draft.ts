import type { Subset } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { MutualTlsMode } from "../../mesh/views/views.ts";
import type { Service, ServicePort } from "../../registry/service.ts";
import type { Discovery } from "./discovery.ts";
import type { SeenByProxy } from "./seen-by-proxy.ts";
import type { EffectiveTrafficPolicy } from "./traffic-policy.ts";

/** One service with the rule that applies to it, as a class of proxies sees it. */
export interface OutboundService {
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly accounts: readonly string[];
  /** What clients guess that each of its ports takes; undefined: nothing says. */
  readonly mtlsModes: readonly (MutualTlsMode | undefined)[];
  /** `sniDnat`: the clusters through which a gateway passes mesh mTLS on as it is. */
  readonly mode: "default" | "sniDnat";
  readonly seen: SeenByProxy;
}

/** A cluster in the making. */
export interface ClusterDraft extends OutboundService {
  readonly port: ServicePort;
  readonly mtlsMode: MutualTlsMode | undefined;
  readonly name: string;
  readonly discovery: Discovery;
  /** undefined for the cluster of the whole service. */
  readonly subset: Subset | undefined;
  readonly policy: EffectiveTrafficPolicy | undefined;
}

/** Whether connections go where the client's were going: by the kind of service, or because a rule asks for it. */
export function keepsOriginalDestination(draft: ClusterDraft): boolean {
  if (draft.discovery === "ORIGINAL_DST") return true;
  return draft.discovery !== "dynamic" && draft.policy?.loadBalancer?.simple === "PASSTHROUGH";
}
