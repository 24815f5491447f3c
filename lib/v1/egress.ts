import { egressCluster } from "./clusters/clusters.ts";
import { egressRules, isHttpEgress } from "./config-store.ts";
import { egressPort } from "./egress-port.ts";
import { type LegacyPort, usesMixer } from "./legacy-world.ts";
import { egressMixerConfig } from "./listeners/mixer.ts";
import type { RequestContext } from "./request-context.ts";
import { type BuiltHost, destinationRoutes, type RouteTables, tablesOf } from "./routes/outbound-routes.ts";
import type { BuiltRoute } from "./routes/rule-route.ts";

/** The virtual hosts of egress rules for HTTP. @see docs/how-istio-does-it/legacy-v1.md#egress-rules */
export function egressTables(requestContext: RequestContext): RouteTables {
  const hosts = egressRules(requestContext.world.configs).flatMap(({ meta, spec }) => {
    const destination = spec.destination.service ?? "";
    const service = [meta.name, meta.namespace, meta.domain].join(".");
    return spec.ports
      .filter(({ protocol }) => isHttpEgress(protocol))
      .map(({ port, protocol }) => {
        const host = egressHost(destination, egressPort(port, protocol), service, requestContext);
        return { port, host };
      });
  });
  return tablesOf(hosts);
}

/** All routes go to the one cluster of the destination, whatever a rule's targets say: nothing else is known outside. */
function egressHost(
  destination: string,
  port: LegacyPort,
  serviceName: string,
  requestContext: RequestContext,
): BuiltHost {
  const { mesh } = requestContext.world;
  const cluster = egressCluster(destination, port, mesh.connectTimeoutMs);
  // The application speaks plain HTTP to a port that the proxy turns into HTTPS.
  const reported: LegacyPort = port.protocol === "HTTPS" ? { ...port, protocol: "HTTP" } : port;
  const routes = destinationRoutes({ hostname: destination, external: false }, reported, requestContext);
  const opaque = usesMixer(mesh) ? { opaque_config: egressMixerConfig(serviceName, destination, requestContext) } : {};
  return {
    name: `${destination}:${port.port}`,
    domains: [destination, `${destination}:${port.port}`],
    routes: routes.map((built): BuiltRoute => {
      const { cluster: _cluster, weighted_clusters: _weighted, ...route } = built.route;
      const redirects = route.host_redirect !== undefined || route.path_redirect !== undefined;
      return {
        route: { ...route, ...(redirects ? {} : { cluster: cluster.cluster.name }), ...opaque },
        clusters: [cluster],
        faults: built.faults,
      };
    }),
  };
}
