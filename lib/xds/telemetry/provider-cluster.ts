import type { GrpcServiceJson } from "../../../gen/envoy/config/core/v3/grpc_service_pb.ts";
import type { ProviderService } from "../../config/kinds/extension-provider.ts";
import type { ListenerView, ServiceLookups } from "../../mesh/views/views.ts";
import { outboundClusterName } from "../names.ts";

/** Where an extension provider is reached. */
export interface ProviderCluster {
  readonly hostname: string;
  readonly cluster: string;
}

/**
 * The cluster of an extension provider: its service is `host` or `namespace/host`, looked up in the whole mesh and not
 * in a scope. undefined for an unknown host, or one that several namespaces have and the provider names without one.
 * Whether the proxy has that cluster is its scope's business.
 *
 * @see docs/how-istio-does-it/telemetry.md#providers
 * @see istio 1.30.3 pilot/pkg/model/telemetry_logging.go, LookupCluster
 */
export function providerCluster(lookups: ServiceLookups, provider: ProviderService): ProviderCluster | undefined {
  const parts = provider.service.split("/");
  const [namespace, hostname] = parts.length === 2 ? parts : ["", provider.service];
  if (hostname === undefined || hostname === "") return undefined;
  const services = lookups
    .servicesOfHost(hostname)
    .filter((service) => namespace === "" || service.attributes.namespace === namespace);
  const [service] = services;
  if (service === undefined || services.length > 1) return undefined;
  return { hostname: service.hostname, cluster: outboundClusterName(provider.port, "", service.hostname) };
}

/**
 * Whether proxies of a scope have the cluster of a provider. Most users of a cluster miss it when they call; the tracers of
 * Zipkin and Datadog look for it at once, and Envoy refuses the whole listener without it.
 */
export function isInScope(
  { scope }: Pick<ListenerView, "scope">,
  { hostname }: ProviderCluster,
  port: number,
): boolean {
  const service = scope.serviceByHostname.get(hostname);
  if (service === undefined || service.resolution === "Alias") return false;
  return service.ports.some((candidate) => candidate.port === port && candidate.protocol !== "UDP");
}

/** gRPC to a provider; its host is the authority. */
export function providerGrpcService({ cluster, hostname }: ProviderCluster): GrpcServiceJson {
  return { envoyGrpc: { clusterName: cluster, authority: hostname } };
}
