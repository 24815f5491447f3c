import { type LegacyMesh, usesMixer } from "../legacy-world.ts";
import { egressMixerConfig } from "../listeners/mixer.ts";
import { type BuiltListener, isTcp, tcpListener, tcpRoute } from "../listeners/tcp-listeners.ts";
import type { RequestContext } from "../request-context.ts";
import { destinationRoutes, type RouteTables, tablesOf } from "../routes/outbound-routes.ts";
import { externalCluster, externalDestinations } from "./external-service.ts";

/** The virtual hosts of HTTP ports outside the mesh. */
export function externalTables(requestContext: RequestContext): RouteTables {
  const { world } = requestContext;
  const { connectTimeoutMs } = world.mesh;
  const hosts = externalDestinations(world.v1alpha3?.serviceEntries ?? []).flatMap((external) => {
    const { destination, port, entry } = external;
    if (port.protocol !== "HTTP" && port.protocol !== "HTTP2" && port.protocol !== "GRPC") return [];
    const routes = destinationRoutes(
      { hostname: destination, external: false },
      port,
      requestContext,
      (hostname, labels) => externalCluster(external, hostname, labels, connectTimeoutMs),
    );
    const name = [entry.meta.name, entry.meta.namespace, entry.meta.domain].join(".");
    const opaque = usesMixer(world.mesh) ? { opaque_config: egressMixerConfig(name, destination, requestContext) } : {};
    const host = {
      name: `${destination}:${port.port}`,
      domains: [destination, `${destination}:${port.port}`],
      routes: routes.map((built) => ({ ...built, route: { ...built.route, ...opaque } })),
    };
    return [{ port: port.port, host }];
  });
  return tablesOf(hosts);
}

/** Listeners for TCP ports outside the mesh, one for each port of an entry. */
export function externalTcpListeners(world: LegacyMesh): readonly BuiltListener[] {
  const entries = world.v1alpha3?.serviceEntries ?? [];
  const byPort = Map.groupBy(
    externalDestinations(entries).filter(({ port }) => isTcp(port.protocol)),
    ({ entryPort }) => entryPort,
  );
  return [...byPort.values()].flatMap((destinations) => {
    const [first] = destinations;
    if (first === undefined) return [];
    const routed = destinations.map((external) => {
      const cluster = externalCluster(external, external.destination, undefined, world.mesh.connectTimeoutMs);
      return { cluster, route: tcpRoute(cluster, [external.destination]) };
    });
    const { port, protocol } = first.port;
    const listener = tcpListener(
      routed.map(({ route }) => route),
      "0.0.0.0",
      port,
      protocol,
    );
    return [{ listener, clusters: routed.map(({ cluster }) => cluster) }];
  });
}
