import { byCodePoint } from "../../base/diagnostic.ts";
import { type Labels, serviceKey } from "../../legacy/service-key.ts";
import type { Protocol } from "../../registry/service.ts";
import type { Cluster } from "../documents.ts";
import type { LegacyPort } from "../legacy-world.ts";
import { inboundName, outboundName } from "./cluster-name.ts";

/** A cluster on its way, and what policies are looked up by. */
export interface BuiltCluster {
  readonly cluster: Cluster;
  /** undefined: no policy applies (local, outside the mesh, Mixer, key servers). */
  readonly policyTarget: PolicyTarget | undefined;
}

export interface PolicyTarget {
  readonly hostname: string;
  readonly labels: Labels | undefined;
  /** undefined: one cluster for many services. */
  readonly port: LegacyPort | undefined;
}

/** Most streams on one HTTP/2 connection: the largest number that the protocol allows in 30 bits. */
export const http2Settings = { max_concurrent_streams: 1_073_741_824 };

/** The member that makes a cluster speak HTTP/2, for the protocols that are. */
export const http2Of = (protocol: Protocol): Pick<Cluster, "http2_settings"> =>
  protocol === "GRPC" || protocol === "HTTP2" ? { http2_settings: http2Settings } : {};

/** The workload itself, on a port of its own. */
export function localCluster(port: number, protocol: Protocol, connectTimeoutMs: number): BuiltCluster {
  return {
    cluster: {
      name: inboundName(port),
      connect_timeout_ms: connectTimeoutMs,
      type: "static",
      lb_type: "round_robin",
      hosts: [{ url: `tcp://127.0.0.1:${port}` }],
      ...http2Of(protocol),
    },
    policyTarget: undefined,
  };
}

/**
 * A port of a service, or a subset of it. Services outside the mesh are resolved by their own name.
 * Nobody checks that the service exists: an unknown one gets no hosts.
 */
export function serviceCluster(
  hostname: string,
  port: LegacyPort,
  labels: Labels | undefined,
  external: boolean,
  connectTimeoutMs: number,
): BuiltCluster {
  const key = serviceKey(hostname, [port.name], [labels]);
  return {
    cluster: {
      name: outboundName(key),
      service_name: key,
      connect_timeout_ms: connectTimeoutMs,
      type: external ? "strict_dns" : "sds",
      lb_type: "round_robin",
      ...(external ? { hosts: [{ url: `tcp://${hostname}:${port.port}` }] } : {}),
      ...http2Of(port.protocol),
    },
    policyTarget: external ? undefined : { hostname, labels, port },
  };
}

/** Sends traffic to where it was going: headless services. */
export function headlessCluster(connectTimeoutMs: number): BuiltCluster {
  return {
    cluster: {
      name: outboundName("orig-dst-cluster-tcp"),
      connect_timeout_ms: connectTimeoutMs,
      type: "original_dst",
      lb_type: "original_dst_lb",
    },
    policyTarget: { hostname: "", labels: undefined, port: undefined },
  };
}

/** One port of an egress rule: traffic goes to where it was going, with TLS added for HTTPS. */
export function egressCluster(destination: string, port: LegacyPort, connectTimeoutMs: number): BuiltCluster {
  const key = serviceKey(destination, [port.name]);
  return {
    cluster: {
      name: outboundName(key),
      service_name: key,
      connect_timeout_ms: connectTimeoutMs,
      type: "original_dst",
      lb_type: "original_dst_lb",
      ...(port.protocol === "HTTPS" ? { ssl_context: {} } : {}),
      ...http2Of(port.protocol),
    },
    policyTarget: { hostname: destination, labels: undefined, port },
  };
}

/** One of each name, the first, sorted by name. */
export function uniqueClusters(clusters: readonly BuiltCluster[]): readonly BuiltCluster[] {
  const byName = new Map<string, BuiltCluster>();
  for (const built of clusters) if (!byName.has(built.cluster.name)) byName.set(built.cluster.name, built);
  return [...byName.values()].sort((a, b) => byCodePoint(a.cluster.name, b.cluster.name));
}
