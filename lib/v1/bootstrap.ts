import { loopbackAddress, loopbackListener, type TlsServer, tlsCluster } from "./bootstrap-tls.ts";
import type { Cluster } from "./documents.ts";
import { workloadCertificateFiles } from "./listeners/authentication.ts";

/** What the start-up file of a v1 Envoy depends on. Durations in milliseconds; addresses as `host:port`, "" for none. */
export interface BootstrapSettings {
  readonly discoveryAddress: string;
  readonly discoveryRefreshDelayMs: number;
  readonly connectTimeoutMs: number;
  readonly proxyAdminPort: number;
  readonly controlPlaneAuthPolicy: "NONE" | "MUTUAL_TLS";
  readonly zipkinAddress: string;
  readonly statsdUdpAddress: string;
  /** Identities of the control plane. */
  readonly pilotIdentities: readonly string[];
  /** A front over TLS, in place of `discoveryAddress`. */
  readonly tls?: TlsServer | undefined;
}

/** Defaults of release 0.8. */
export const defaultBootstrapSettings: BootstrapSettings = {
  discoveryAddress: "istio-pilot:15007",
  discoveryRefreshDelayMs: 1000,
  connectTimeoutMs: 1000,
  proxyAdminPort: 15000,
  controlPlaneAuthPolicy: "NONE",
  zipkinAddress: "",
  statsdUdpAddress: "",
  pilotIdentities: [],
};

/**
 * The start-up file of a v1 Envoy: where it finds its four discovery services.
 * @see docs/how-istio-does-it/legacy-v1.md#bootstrap
 */
export function bootstrapDocument(settings: BootstrapSettings): object {
  const { zipkinAddress, statsdUdpAddress, tls } = settings;
  const discoveryAddress = tls === undefined ? settings.discoveryAddress : loopbackAddress(tls);
  const discovery = (name: string): Cluster => ({
    ...plainCluster(name, discoveryAddress, settings.connectTimeoutMs),
    ...(settings.controlPlaneAuthPolicy === "MUTUAL_TLS"
      ? { ssl_context: { ...workloadCertificateFiles, verify_subject_alt_name: settings.pilotIdentities } }
      : {}),
  });
  const refresh_delay_ms = settings.discoveryRefreshDelayMs;
  const zipkin = zipkinAddress === "" ? [] : [plainCluster("zipkin", zipkinAddress, settings.connectTimeoutMs)];
  const front = tls === undefined ? [] : [tlsCluster(tls, settings.connectTimeoutMs)];
  return {
    listeners: tls === undefined ? [] : [loopbackListener(tls)],
    lds: { cluster: "lds", refresh_delay_ms },
    admin: { access_log_path: "/dev/stdout", address: `tcp://127.0.0.1:${settings.proxyAdminPort}` },
    cluster_manager: {
      clusters: [discovery("rds"), discovery("lds"), ...front, ...zipkin],
      sds: { cluster: discovery("sds"), refresh_delay_ms },
      cds: { cluster: discovery("cds"), refresh_delay_ms },
    },
    ...(statsdUdpAddress === "" ? {} : { statsd_udp_ip_address: statsdUdpAddress }),
    ...(zipkin.length === 0 ? {} : { tracing }),
  };
}

const tracing = {
  http: {
    driver: { type: "zipkin", config: { collector_cluster: "zipkin", collector_endpoint: "/api/v1/spans" } },
  },
};

function plainCluster(name: string, address: string, connectTimeoutMs: number): Cluster {
  return {
    name,
    connect_timeout_ms: connectTimeoutMs,
    type: "strict_dns",
    lb_type: "round_robin",
    hosts: [{ url: `tcp://${address}` }],
  };
}
