import type { BootstrapJson } from "../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";
import { secretTypeUrl } from "../secrets/tls-secret.ts";
import { type BootstrapExtras, extraResources, statsConfig } from "./bootstrap-extras.ts";
import { localClusterFile, localClusterFrom, localClusterManager } from "./local-cluster.ts";

/** Who an Envoy is and where its resources come from. */
export interface BootstrapOptions {
  /** `sidecar~10.0.0.5~web-0.default~default.svc.cluster.local`. */
  readonly nodeId: string;
  /** Envoy refuses to start without one; `web.default`. */
  readonly nodeCluster: string;
  readonly metadata: BootstrapMetadata;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
  readonly server: ControlPlane;
  /** Whether anything that the proxy is served, or reports to, names the identity agent; absent: it does. */
  readonly hasIdentity?: boolean;
  /** Whether it asks for the proxies that are like it, by which Envoy balances by zone. */
  readonly hasLocalCluster?: boolean;
  /** How many connections clients may have to it at once, over all listeners; absent: any number. */
  readonly connectionLimit?: number | undefined;
  /** How it is told: by the answers to its polls, by default, or by a gRPC stream, of deltas or of the state of the world. */
  readonly transport?: Transport;
  /** How long it waits from one poll to the next, at least; a second by default. Less than a millisecond crashes Envoy. */
  readonly pollDelayMs?: number | undefined;
  /** Folder of the agent, for the transport `files`. */
  readonly folder?: string | undefined;
  /** Port of the admin interface on loopback; 0 takes any. */
  readonly adminPort: number;
  /** For those who watch it; its listeners want an admin port that is known. */
  readonly extras?: BootstrapExtras;
  /** What the proxy reports to, beside the control plane and the identity agent. */
  readonly services?: BootstrapServices;
}

/** `files`: an agent beside the proxy writes them. */
export type Transport = "rest" | "delta" | "sotw" | "files";

/** Parts of a bootstrap about log, metrics and tracing services. */
export interface BootstrapServices {
  readonly clusters: readonly ClusterJson[];
  readonly statsSinks: NonNullable<BootstrapJson["statsSinks"]>;
  readonly tracing: BootstrapJson["tracing"];
}

/** Node metadata as JSON: a value may be a text, a number, a flag, a list or an object. */
export type BootstrapMetadata = NonNullable<NonNullable<BootstrapJson["node"]>["metadata"]>;

export interface ControlPlane {
  /** Host and port of the front. A name is resolved by DNS. */
  readonly host: string;
  readonly port: number;
  /** TLS, with the server's name checked against a CA file. */
  readonly tls?: {
    readonly caFile: string;
    /** The proxy's own certificate and key, where the server wants them. */
    readonly certificateFile?: string | undefined;
    readonly keyFile?: string | undefined;
  };
  /** Environment variable of the Envoy process that holds the whole `Authorization` header, `Bearer …`. */
  readonly authorizationVariable?: string;
  /** File beside the bootstrap that `tokenSecret` makes, for a token in a file: it is read again whenever it changes. */
  readonly tokenSecretFile?: string;
}

/**
 * Name of the control plane's cluster in every bootstrap. The config sources in polled resources name it too
 * (`portolanCluster` in lib/xds/names.ts, held equal by a test). Envoy would have it for the authority of polls: see `authorityFilters`.
 */
export const controlPlaneCluster = "portolan";

/** Name of the identity agent's cluster in every bootstrap (`sdsCluster` in lib/xds/names.ts, held equal by a test). */
export const identityCluster = "sds-grpc";

/**
 * Held polls: the front answers within the timeout whenever there is something new, so the delay only paces how soon a node says that it
 * has what it was given, and a second change right after a first.
 *
 * @see docs/how-istio-does-it/rest-polling.md#which-shape
 * @see docs/how-istio-does-it/rest-polling.md#held-polls
 */
export const restSource = (pollDelayMs = 1_000, cluster = controlPlaneCluster) =>
  ({
    apiConfigSource: {
      apiType: "REST",
      transportApiVersion: "V3",
      clusterNames: [cluster],
      refreshDelay: `${pollDelayMs / 1_000}s`,
      requestTimeout: "30s",
    },
    initialFetchTimeout: "5s",
    resourceApiVersion: "V3",
  }) satisfies ConfigSourceJson;

/** Of a bootstrap whose resources come by one stream; a start waits for its answer, as it would wait for Istio's. */
export const streamSource = {
  ads: {},
  initialFetchTimeout: "0s",
  resourceApiVersion: "V3",
} as const satisfies ConfigSourceJson;

/** Where an Envoy's resources come from. Over a stream a node says who it is once. */
function dynamicResources(
  server: ControlPlane,
  transport: Transport,
  folder: string,
  pollDelayMs: number | undefined,
): NonNullable<BootstrapJson["dynamicResources"]> {
  if (transport === "files") return fileResources(folder);
  if (transport === "rest") return { cdsConfig: restSource(pollDelayMs), ldsConfig: restSource(pollDelayMs) };
  return {
    adsConfig: {
      apiType: transport === "delta" ? "DELTA_GRPC" : "GRPC",
      transportApiVersion: "V3",
      setNodeOnFirstMessageOnly: true,
      grpcServices: [{ envoyGrpc: { clusterName: controlPlaneCluster, authority: authorityOf(server) } }],
    },
    cdsConfig: streamSource,
    ldsConfig: streamSource,
  };
}

/** Where the endpoints of its local cluster come from. */
function localClusterSource(transport: Transport, folder: string, pollDelayMs: number | undefined): ConfigSourceJson {
  if (transport === "rest") return restSource(pollDelayMs);
  if (transport !== "files") return streamSource;
  return { pathConfigSource: { path: `${folder}/${localClusterFile}` }, resourceApiVersion: "V3" };
}

/**
 * A stock Envoy refuses a regular expression of more than a hundred instructions, about as many characters, and with it the whole route
 * table. With this it reads as large ones as Istio's proxies do. Of an answer to itself it takes 32 MiB, and a module of Wasm may have 64.
 *
 * @see istio 1.30.3 tools/packaging/common/envoy_bootstrap.json
 */
const runtime: NonNullable<BootstrapJson["layeredRuntime"]> = {
  layers: [
    {
      name: "portolan",
      staticLayer: { "re2.max_program_size.error_level": 32_768, "http.async_response_buffer_limit": 67_108_864 },
    },
    { name: "admin", adminLayer: {} },
  ],
};

/** Where a cluster has its options of HTTP, and their type. */
const httpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const httpOptionsUrl = `type.googleapis.com/${httpOptions}`;

/** Name of the cluster that leads an Envoy to the agent beside it. */
export const agentCluster = "portolan-agent";

/** Where an Envoy gets everything from that has an agent beside it: delta ADS, from a server that is never far away. */
export const agentResources = {
  adsConfig: {
    apiType: "DELTA_GRPC",
    transportApiVersion: "V3",
    setNodeOnFirstMessageOnly: true,
    grpcServices: [
      {
        envoyGrpc: {
          clusterName: agentCluster,
          retryPolicy: { retryBackOff: { baseInterval: "0.05s", maxInterval: "1s" } },
        },
      },
    ],
  },
  cdsConfig: streamSource,
  ldsConfig: streamSource,
} as const satisfies BootstrapJson["dynamicResources"];

/** The cluster of that name. @param path of the agent's socket */
export const clusterOfAgent = (path: string): ClusterJson => ({
  name: agentCluster,
  type: "STATIC",
  connectTimeout: "1s",
  loadAssignment: {
    clusterName: agentCluster,
    endpoints: [{ lbEndpoints: [{ endpoint: { address: { pipe: { path } } } }] }],
  },
  // A route table of ten thousand services is one message; what waits for Envoy waits in its agent.
  typedExtensionProtocolOptions: { [httpOptions]: grpcOptions },
});

/** Where an Envoy without an agent beside it reads clusters and listeners from. */
export const fileResources = (folder: string) => ({
  cdsConfig: { pathConfigSource: { path: `${folder}/cds.json` }, resourceApiVersion: "V3" } as const,
  ldsConfig: { pathConfigSource: { path: `${folder}/lds.json` }, resourceApiVersion: "V3" } as const,
});

/** @see https://github.com/istio/istio/blob/86c9f01fd735/tools/packaging/common/envoy_bootstrap.json */
function atMost(connections: number): NonNullable<BootstrapJson["overloadManager"]> {
  const typedConfig = {
    "@type":
      "type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
    maxActiveDownstreamConnections: String(connections),
  };
  return { resourceMonitors: [{ name: "envoy.resource_monitors.global_downstream_max_connections", typedConfig }] };
}

/** A bootstrap for a stock Envoy, 1.36 or newer. */
export function bootstrapOf(options: BootstrapOptions): BootstrapJson {
  const {
    nodeId,
    nodeCluster,
    metadata,
    locality,
    server,
    hasIdentity = true,
    hasLocalCluster = false,
    connectionLimit,
    adminPort,
    services,
    transport = "rest",
    pollDelayMs,
    folder = "/var/lib/portolan-agent",
    extras = {},
  } = options;
  const extra = extraResources(extras, adminPort);
  return {
    node: { id: nodeId, cluster: nodeCluster, metadata, ...(locality === undefined ? {} : { locality }) },
    admin: { address: socketAddress("127.0.0.1", adminPort) },
    dynamicResources: dynamicResources(server, transport, folder, pollDelayMs),
    layeredRuntime: runtime,
    ...(hasLocalCluster ? { clusterManager: localClusterManager } : {}),
    ...(connectionLimit === undefined ? {} : { overloadManager: atMost(connectionLimit) }),
    staticResources: {
      ...bootstrapSecrets(server, transport),
      clusters: [
        controlPlane(server, transport),
        ...(hasIdentity ? [identityAgent] : []),
        ...(hasLocalCluster ? [localClusterFrom(localClusterSource(transport, folder, pollDelayMs))] : []),
        ...(services?.clusters ?? []),
        ...extra.clusters,
      ],
      ...(extra.listeners.length === 0 ? {} : { listeners: [...extra.listeners] }),
    },
    ...(extras.statsTags === true ? { statsConfig } : {}),
    ...(services === undefined || services.statsSinks.length === 0 ? {} : { statsSinks: services.statsSinks }),
    ...(services?.tracing === undefined ? {} : { tracing: services.tracing }),
  };
}

const grpcOptions = {
  "@type": httpOptionsUrl,
  explicitHttpConfig: { http2ProtocolOptions: {} },
};

/**
 * The agent that has the workload's identity, at the socket where Istio's and SPIRE's are. Polled resources name it for
 * mesh mTLS, and Envoy refuses a resource that names a cluster which is not there. Without an agent mTLS fails, and each start
 * and each new cluster waits for its secrets as long as `initialFetchTimeout` of the resources says, 5 s.
 */
const identityAgent: ClusterJson = {
  name: identityCluster,
  type: "STATIC",
  connectTimeout: "1s",
  loadAssignment: {
    clusterName: identityCluster,
    endpoints: [
      { lbEndpoints: [{ endpoint: { address: { pipe: { path: "./var/run/secrets/workload-spiffe-uds/socket" } } } }] },
    ],
  },
  typedExtensionProtocolOptions: { [httpOptions]: grpcOptions },
};

function controlPlane(server: ControlPlane, transport: Transport): ClusterJson {
  return {
    name: controlPlaneCluster,
    ...resolution(server),
    connectTimeout: "2s",
    loadAssignment: {
      clusterName: controlPlaneCluster,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: socketAddress(server.host, server.port) } }] }],
    },
    ...(server.tls === undefined ? {} : { transportSocket: tlsSocket(server.host, server.tls) }),
    typedExtensionProtocolOptions: {
      [httpOptions]: protocolOptions(server, transport),
    },
  };
}

/**
 * Several fronts of one name in a cluster share the load. What is reached over TLS is mostly a platform, whose name has addresses of IPv6
 * too: by default Envoy would ask at these alone, also where there is no way to them. With all addresses it takes those that answer.
 */
function resolution({ host, tls }: ControlPlane): Pick<ClusterJson, "type" | "dnsLookupFamily"> {
  if (isIpAddress(host)) return { type: "STATIC" };
  return tls === undefined ? { type: "STRICT_DNS" } : { type: "LOGICAL_DNS", dnsLookupFamily: "ALL" };
}

function tlsSocket(serverName: string, { caFile, certificateFile, keyFile }: NonNullable<ControlPlane["tls"]>) {
  const typedConfig = {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    sni: serverName,
    commonTlsContext: {
      ...(certificateFile === undefined || keyFile === undefined
        ? {}
        : {
            tlsCertificates: [{ certificateChain: { filename: certificateFile }, privateKey: { filename: keyFile } }],
          }),
      validationContext: {
        trustedCa: { filename: caFile },
        matchTypedSubjectAltNames: [{ sanType: "DNS", matcher: { exact: serverName } }],
      },
    },
  };
  return { name: "envoy.transport_sockets.tls", typedConfig };
}

function protocolOptions(server: ControlPlane, transport: Transport) {
  return {
    "@type": httpOptionsUrl,
    ...httpVersions(server, transport),
    // The codec is the last of upstream filters, always.
    httpFilters: [...authorizationFilters(server), ...authorityFilters(server, transport), upstreamCodec],
  };
}

function httpVersions({ tls }: ControlPlane, transport: Transport) {
  // A connection that was lost without a word is found out by its pings.
  const connectionKeepalive = { interval: "30s", timeout: "5s" };
  if (transport === "delta" || transport === "sotw")
    return { explicitHttpConfig: { http2ProtocolOptions: { connectionKeepalive } } };
  // Over TLS the server may choose HTTP/2, which keeps a connection from being spent on each held poll.
  return tls === undefined
    ? { explicitHttpConfig: { httpProtocolOptions: {} } }
    : { autoConfig: { httpProtocolOptions: {}, http2ProtocolOptions: {} } };
}

const upstreamCodec = {
  name: "envoy.filters.http.upstream_codec",
  typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec" },
};

/** The server as a URL names it: with its port where that is not the scheme's own. */
function authorityOf({ host, port, tls }: ControlPlane): string {
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return port === (tls === undefined ? 80 : 443) ? shownHost : `${shownHost}:${port}`;
}

/** Name of the secret that holds the authority: it is none, but what a credential injector injects is one. */
export const authoritySecret = "portolan-authority";

/**
 * Envoy's REST client gives the name of the cluster as the authority of a request, and nothing in Envoy's configuration changes that. A
 * server that is found by its name (Cloudflare, a Lambda function URL, an ingress) refuses it. A stream has a field for it, but not what
 * else an Envoy asks of that cluster: the code of Wasm extensions.
 *
 * @see docs/decisions/054-authority-of-polls.md
 */
const needsAuthority = (server: ControlPlane, transport: Transport): boolean =>
  transport !== "files" && !isIpAddress(server.host);

const authorityFilters = (server: ControlPlane, transport: Transport) =>
  needsAuthority(server, transport)
    ? [injector("authority", { credential: { name: authoritySecret }, header: ":authority" })]
    : [];

/** What the filters before the connection inject, where no file holds it. */
function bootstrapSecrets(server: ControlPlane, transport: Transport) {
  const { authorizationVariable: environmentVariable } = server;
  const secret = (name: string, source: object) => ({ name, genericSecret: { secret: source } });
  const secrets = [
    ...(environmentVariable === undefined ? [] : [secret(authorizationSecret, { environmentVariable })]),
    ...(needsAuthority(server, transport) ? [secret(authoritySecret, { inlineString: authorityOf(server) })] : []),
  ];
  return secrets.length === 0 ? {} : { secrets };
}

/** Name of the secret that holds the token, or the whole header. */
const authorizationSecret = "portolan-authorization";

/**
 * The file that `tokenSecretFile` names, as Envoy's SDS reads it.
 *
 * @param tokenFile holds the token alone; Envoy follows it when it is replaced by a rename, and when Kubernetes renews it
 */
export const tokenSecret = (tokenFile: string) => ({
  resources: [
    {
      "@type": secretTypeUrl,
      name: authorizationSecret,
      genericSecret: { secret: { filename: tokenFile } },
    },
  ],
});

function authorizationFilters({ authorizationVariable, tokenSecretFile }: ControlPlane) {
  const header = "Authorization";
  if (tokenSecretFile !== undefined) {
    const sdsConfig = { pathConfigSource: { path: tokenSecretFile }, resourceApiVersion: "V3" };
    const credential = { name: authorizationSecret, sdsConfig };
    return [injector("authorization", { credential, header, headerValuePrefix: "Bearer " })];
  }
  if (authorizationVariable === undefined) return [];
  return [injector("authorization", { credential: { name: authorizationSecret }, header })];
}

const injector = (name: string, generic: object) => ({
  name,
  typedConfig: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.credential_injector.v3.CredentialInjector",
    overwrite: true,
    credential: {
      name: "envoy.http.injected_credentials.generic",
      typedConfig: {
        "@type": "type.googleapis.com/envoy.extensions.http.injected_credentials.generic.v3.Generic",
        ...generic,
      },
    },
  },
});

const socketAddress = (address: string, portValue: number) => ({ socketAddress: { address, portValue } });

const isIpAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.includes(":");
