import type { GrpcServiceJson } from "../../../gen/envoy/config/core/v3/grpc_service_pb.ts";
import type { ProviderService } from "../../config/kinds/extension-provider.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import type { OutboundListenerView, ServiceLookups } from "../../mesh/views/views.ts";
import { outboundClusterName } from "../names.ts";

/** Where an extension provider is reached. */
export interface ProviderCluster {
  readonly hostname: string;
  readonly cluster: string;
}

/** What finding an extension provider asks: steps remember the answers. */
export interface ProviderLookups {
  readonly mesh: MeshSettings;
  /**
   * The host of a service that is named as `host` or `namespace/host`, looked up in the whole mesh and not in a scope; undefined
   * for an unknown one, or one that several namespaces have and that is named without one.
   */
  hostOf(service: string): string | undefined;
}

/** The same for what the proxies of a class have to see as well. */
export interface ScopedProviders extends ProviderLookups {
  /**
   * Whether proxies have the cluster of a port. Most users of a cluster miss it when they call; the tracers of Zipkin and
   * Datadog look for it at once, and Envoy refuses the whole listener without it.
   */
  isInScope(hostname: string, port: number): boolean;
}

export function providerLookups({
  mesh,
  servicesOfHost,
}: Pick<ServiceLookups, "mesh" | "servicesOfHost">): ProviderLookups {
  return {
    mesh,
    hostOf: (service) => {
      const parts = service.split("/");
      const [namespace, hostname] = parts.length === 2 ? parts : ["", service];
      if (hostname === undefined || hostname === "") return undefined;
      const found = servicesOfHost(hostname).filter(
        ({ attributes }) => namespace === "" || attributes.namespace === namespace,
      );
      return found.length === 1 ? found[0]?.hostname : undefined;
    },
  };
}

export function scopedProviders({ lookups, scope }: Pick<OutboundListenerView, "lookups" | "scope">): ScopedProviders {
  return {
    ...providerLookups(lookups),
    isInScope: (hostname, port) => {
      const service = scope.serviceByHostname.get(hostname);
      if (service === undefined || service.resolution === "Alias") return false;
      return service.ports.some((candidate) => candidate.port === port && candidate.protocol !== "UDP");
    },
  };
}

/**
 * The cluster of an extension provider: its service is found by `hostOf`. Whether the proxy has that cluster is its scope's
 * business.
 *
 * @see docs/how-istio-does-it/telemetry.md#providers
 * @see istio 1.30.3 pilot/pkg/model/telemetry_logging.go, LookupCluster
 */
export function providerCluster(lookups: ProviderLookups, provider: ProviderService): ProviderCluster | undefined {
  const hostname = lookups.hostOf(provider.service);
  return hostname === undefined ? undefined : { hostname, cluster: outboundClusterName(provider.port, "", hostname) };
}

/** gRPC to a provider; its host is the authority. */
export function providerGrpcService({ cluster, hostname }: ProviderCluster): GrpcServiceJson {
  return { envoyGrpc: { clusterName: cluster, authority: hostname } };
}
