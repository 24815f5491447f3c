import type { Subset } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { ClassProxy, MutualTlsMode } from "../../mesh/views/views.ts";
import type { Endpoint, Service, ServicePort } from "../../registry/service.ts";
import type { Sight } from "../endpoints/sight.ts";
import type { Discovery } from "./discovery.ts";
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

/** What few clusters ask for: most are the same for sidecars and gateways, wherever they run, and whatever runs behind the service. */
export interface SeenByProxy {
  /** For clusters that carry them, or look at them for the guess of mTLS. */
  readonly endpoints: readonly Endpoint[];
  readonly sight: Sight;
  /** For original destinations, sniffed protocols, and credentials that only a gateway may fetch. */
  readonly proxyType: ClassProxy["type"];
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
