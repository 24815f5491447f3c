import { byCodePoint } from "../../base/diagnostic.ts";
import type { Server } from "../../config/kinds/gateway.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { serviceCluster } from "../clusters/clusters.ts";
import type { Listener } from "../documents.ts";
import type { LegacyMesh, V1Alpha3Configs } from "../legacy-world.ts";
import { httpListener } from "../listeners/http-listener.ts";
import type { BuiltHost } from "../routes/outbound-routes.ts";
import { nothingRuns } from "../runs-here.ts";
import { virtualServiceRoutes } from "./virtual-service-routes.ts";

/** What a router listens on: one connection manager for each HTTP-like port of any Gateway. */
export function gatewayListeners(world: LegacyMesh, configs: V1Alpha3Configs, node: NodeId): readonly Listener[] {
  const servers = new Map<number, Server>();
  for (const { spec } of configs.gateways) {
    for (const server of spec.servers) if (!servers.has(server.port.number)) servers.set(server.port.number, server);
  }
  return [...servers.values()]
    .filter(({ port }) => ["HTTP", "HTTPS", "GRPC", "HTTP2"].includes(port.protocol.toUpperCase()))
    .map((server) => gatewayListener(server, world, node))
    .sort((a, b) => byCodePoint(a.address, b.address));
}

function gatewayListener({ port, tls }: Server, world: LegacyMesh, node: NodeId): Listener {
  const listener = httpListener(
    {
      ip: "0.0.0.0",
      port: port.number,
      routes: String(port.number),
      outbound: false,
      operation: "ingress",
      useRemoteAddress: true,
      services: [],
      policy: undefined,
      faults: [],
      bindToPort: true,
    },
    world,
    node,
  );
  if (tls === undefined) return listener;
  const { bind_to_port, ...head } = listener;
  return {
    ...head,
    ssl_context: {
      cert_chain_file: tls.serverCertificate ?? "",
      private_key_file: tls.privateKey ?? "",
      ...(tls.caCertificates === undefined ? {} : { ca_cert_file: tls.caCertificates }),
      require_client_certificate: tls.mode === "MUTUAL",
      alpn_protocols: "h2,http/1.1",
    },
    bind_to_port,
  };
}

/** The virtual hosts of a router's port: `<gateway>|<port>|<host>`, sorted. */
export function gatewayHosts(
  world: LegacyMesh,
  configs: V1Alpha3Configs,
  node: NodeId,
  port: number,
): readonly BuiltHost[] {
  const servicePort = { name: "http", port, protocol: "HTTP", authenticationPolicy: "INHERIT" } as const;
  return configs.gateways
    .flatMap((gateway) =>
      gateway.spec.servers
        .filter((server) => server.port.number === port)
        .flatMap((server) => server.hosts)
        .flatMap((serverHost) => hostsOf(gateway.meta.name, serverHost)),
    )
    .sort((a, b) => byCodePoint(a.name, b.name));

  function hostsOf(gateway: string, serverHost: string): readonly BuiltHost[] {
    return configs.virtualServices
      .filter(({ spec }) => (spec.gateways ?? []).includes(gateway))
      .flatMap((virtualService) => {
        const routes = virtualServiceRoutes(virtualService, {
          configs,
          here: nothingRuns,
          domain: node.domain,
          cluster: (hostname, labels) =>
            serviceCluster(hostname, servicePort, labels, false, world.mesh.connectTimeoutMs),
        });
        return matchingHosts(serverHost, virtualService.spec.hosts).map((host) => ({
          name: `${gateway}|${port}|${host}`,
          domains: [`${host}:${port}`, host],
          routes,
        }));
      });
  }
}

/** A server's host matches itself, and, without its first character, the ends of others. */
function matchingHosts(serverHost: string, hosts: readonly string[]): readonly string[] {
  if (!serverHost.startsWith("*") && hosts.includes(serverHost)) return [serverHost];
  return hosts.filter((host) => host.endsWith(serverHost.slice(1)));
}
