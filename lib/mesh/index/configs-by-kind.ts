import { kindText } from "../../base/diagnostic.ts";
import { byAge, type Config } from "../../config/config.ts";
import type { KubernetesBackend } from "../../config/gateway-api/backend.ts";
import type {
  BackendTLSPolicy,
  BackendTrafficPolicy,
  ReferenceGrant,
} from "../../config/gateway-api/backend-policy.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { KubernetesHTTPRoute } from "../../config/gateway-api/http-route.ts";
import type { GRPCRoute, KubernetesTCPRoute, KubernetesTLSRoute } from "../../config/gateway-api/other-routes.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import type { EnvoyFilter } from "../../config/kinds/envoy-filter.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { Ingress, IngressClass } from "../../config/kinds/ingress.ts";
import type { AuthenticationPolicy } from "../../config/kinds/legacy/authentication-policy.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../../config/kinds/legacy/service-role.ts";
import type { PeerAuthentication } from "../../config/kinds/peer-authentication.ts";
import type { ProxyConfigResource } from "../../config/kinds/proxy-config.ts";
import type { RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { Sidecar } from "../../config/kinds/sidecar.ts";
import type { Telemetry } from "../../config/kinds/telemetry.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import type { TrafficExtension, WasmPlugin } from "../../config/kinds/wasm-plugin.ts";
import type { WorkloadEntry } from "../../config/kinds/workload-entry.ts";
import type { WorkloadGroup } from "../../config/kinds/workload-group.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { groupBy } from "../group-by.ts";

/** The kinds that the mesh and its proxies are made from. */
interface SpecOf {
  readonly AuthorizationPolicy: AuthorizationPolicy;
  readonly ClusterRbacConfig: RbacConfig;
  readonly DestinationRule: DestinationRule;
  readonly EnvoyFilter: EnvoyFilter;
  readonly Gateway: Gateway;
  readonly Ingress: Ingress;
  readonly IngressClass: IngressClass;
  readonly MeshPolicy: AuthenticationPolicy;
  readonly PeerAuthentication: PeerAuthentication;
  readonly Policy: AuthenticationPolicy;
  readonly ProxyConfig: ProxyConfigResource;
  readonly RbacConfig: RbacConfig;
  readonly RequestAuthentication: RequestAuthentication;
  readonly ServiceRole: ServiceRole;
  readonly ServiceRoleBinding: ServiceRoleBinding;
  readonly Sidecar: Sidecar;
  readonly Telemetry: Telemetry;
  readonly TrafficExtension: TrafficExtension;
  readonly VirtualService: VirtualService;
  readonly WasmPlugin: WasmPlugin;
  readonly WorkloadEntry: WorkloadEntry;
  readonly WorkloadGroup: WorkloadGroup;
  readonly ServiceEntry: ServiceEntry;
  readonly "BackendTLSPolicy.gateway.networking.k8s.io": BackendTLSPolicy;
  readonly "GRPCRoute.gateway.networking.k8s.io": GRPCRoute;
  readonly "Gateway.gateway.networking.k8s.io": KubernetesGateway;
  readonly "GatewayClass.gateway.networking.k8s.io": GatewayClass;
  readonly "HTTPRoute.gateway.networking.k8s.io": KubernetesHTTPRoute;
  readonly "ListenerSet.gateway.networking.k8s.io": ListenerSet;
  readonly "ReferenceGrant.gateway.networking.k8s.io": ReferenceGrant;
  readonly "TCPRoute.gateway.networking.k8s.io": KubernetesTCPRoute;
  readonly "TLSRoute.gateway.networking.k8s.io": KubernetesTLSRoute;
  readonly "XBackend.gateway.networking.x-k8s.io": KubernetesBackend;
  readonly "XBackendTrafficPolicy.gateway.networking.x-k8s.io": BackendTrafficPolicy;
}

type Kind = keyof SpecOf;

/** The schema of its kind has validated every object's spec, so the kind tells the type. */
export function isOfKind<K extends Kind>(config: Config, kind: K): config is Config<SpecOf[K]> {
  return kindText(config.meta) === kind;
}

const areOfKind = <K extends Kind>(configs: readonly Config[], kind: K): configs is readonly Config<SpecOf[K]>[] =>
  configs.every((config) => isOfKind(config, kind));

/** All objects of one kind, oldest first; the same list as last time if none of them changed. */
export type ConfigsOf = <K extends Kind>(kind: K) => readonly Config<SpecOf[K]>[];

const listsByKind = query("objects by kind", ({ configs }: { readonly configs: readonly Config[] }) =>
  groupBy(configs, ({ meta }) => kindText(meta)),
);

export function configsByKind(configs: readonly Config[], memo: Memo): ConfigsOf {
  const lists = listsByKind(memo, { configs });
  return (kind) => {
    const list = keepList(memo, `configs|${kind}`, lists.get(kind) ?? []);
    const sorted = sortedByAge(memo, { list });
    if (!areOfKind(sorted, kind)) throw new Error(`not all of kind ${kind}`);
    return sorted;
  };
}

const sortedByAge = query("configs by age", ({ list }: { readonly list: readonly Config[] }) => list.toSorted(byAge));
