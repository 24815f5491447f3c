/**
 * Every name that the generators make. People write dashboards, routes and EnvoyFilters against them, and Istio's
 * proxies agree on them across control planes: changing one is a breaking change. The route tables of gateways alone are named
 * where their servers are merged (`lib/mesh/gateway/gateway-port.ts`).
 * @see istio 1.30.3 pilot/pkg/model/service.go, BuildSubsetKey and BuildDNSSrvSubsetKey
 */
import type { Service } from "../registry/service.ts";

/** What a cluster name is made of. */
export interface ClusterNameParts {
  readonly direction: "outbound" | "inbound";
  /** Port of the service (outbound), of the workload (inbound). */
  readonly port: number;
  /** "" for the whole service. */
  readonly subset: string;
  /** "" for inbound clusters. */
  readonly host: string;
}

/** `outbound|<service port>|<subset>|<host>`; subset is empty for the whole service. */
export function outboundClusterName(port: number, subset: string, host: string): string {
  return `outbound|${port}|${subset}|${host}`;
}

/** `inbound|<target port>||`. */
export function inboundClusterName(port: number): string {
  return `inbound|${port}||`;
}

/** `outbound_.<service port>_.<subset>_.<host>`: the SNI of mesh mTLS, and the clusters of an SNI-routing gateway. */
export function sniDnatClusterName(port: number, subset: string, host: string): string {
  return `outbound_.${port}_.${subset}_.${host}`;
}

/** Of the form with underscores: the port and the subset end at the first `_.`, the host may hold more of them. */
const sniDnatPattern = /^(outbound|inbound)_\.(.*?)_\.(.*?)_\.(.*)$/s;

/** Reads either form of a cluster name; undefined for any other text. A port that is no number reads as 0. */
export function parseClusterName(name: string): ClusterNameParts | undefined {
  const first = name.indexOf("|");
  const direction = name.slice(0, first);
  if (direction === "outbound" || direction === "inbound") {
    const second = name.indexOf("|", first + 1);
    const third = name.indexOf("|", second + 1);
    if (second === -1 || third === -1 || name.includes("|", third + 1)) return undefined;
    const port = portOf(name.slice(first + 1, second));
    return { direction, port, subset: name.slice(second + 1, third), host: name.slice(third + 1) };
  }
  const match = sniDnatPattern.exec(name);
  if (match === null) return undefined;
  const [, kind, port = "", subset = "", host = ""] = match;
  return { direction: kind === "inbound" ? "inbound" : "outbound", port: portOf(port), subset, host };
}

function portOf(text: string): number {
  let port = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return 0;
    port = port * 10 + digit;
  }
  return port;
}

const zero = "0".charCodeAt(0);

/** Stands where a destination names no host. */
export const unknownService = "UnknownService";

/** STATIC without endpoints: takes what a registry-only mesh refuses. */
export const blackHoleCluster = "BlackHoleCluster";

/** Sends outbound traffic to where it was going. */
export const passthroughCluster = "PassthroughCluster";

/** Sends inbound traffic on an unknown port to the workload. */
export const inboundPassthroughCluster = "InboundPassthroughCluster";

/** What a bootstrap calls the cluster of the proxies that are like the own one. */
export const localClusterName = "local_cluster";

/** Bootstrap cluster of the local SDS server. */
export const sdsCluster = "sds-grpc";

/** Bootstrap cluster of Envoy's access log service, there if the proxy's settings give its address. */
export const accessLogServiceCluster = "envoy_accesslog_service";

/** `jwks|<port>||<host>`: leads to whom a proxy asks for the keys of tokens outside of the mesh. */
export const keyServerCluster = (port: number, host: string): string => `jwks|${port}||${host}`;

export const isKeyServerCluster = (name: string): boolean => name.startsWith("jwks|");

/** Bootstrap cluster of the control plane that a polling Envoy asks. */
export const portolanCluster = "portolan";

/** SDS name of the workload's own certificate. */
export const workloadCertificate = "default";

/** SDS name of the mesh's root certificate. */
export const workloadRootCa = "ROOTCA";

/** `<host>_dfp_dns_cache`: shared by a dynamic forward proxy cluster and the filters in front of it. */
export function dynamicForwardProxyCacheName(host: string): string {
  return `${host}_dfp_dns_cache`;
}

/** `<name>;`: the stat name of a cluster; the final `;` ends the tag that Istio's dashboards cut out. */
export function altStatName(name: string): string {
  return `${name};`;
}

/** `file-cert:<certificate>~<key>`: SDS name of a key pair in files. */
export function fileCertificateName(certificate: string, key: string): string {
  return `file-cert:${certificate}~${key}`;
}

/** `file-root:<path>`, `file-root:system` for the system's own roots: SDS name of a CA in a file. */
export function fileRootCaName(path: string): string {
  return `file-root:${path === "" ? "system" : path}`;
}

/** A credential that nobody has: connections that need it are not made. */
export const closedCredential = "invalid://closed";

/**
 * `kubernetes://<credential name>`: SDS name of a key pair in a Kubernetes secret. A name that says its kind keeps it, but
 * `sds://` (a server of its own) falls back to the secret, and a malformed `invalid://` to nothing that exists.
 */
export function credentialSecretName(credentialName: string): string {
  const name = credentialName.startsWith("sds://") ? credentialName.slice("sds://".length) : credentialName;
  if (name.startsWith("builtin://")) return workloadCertificate;
  if (name.startsWith("invalid://")) return "invalid://";
  return /^(?:kubernetes|kubernetes-gateway|configmap|clustertrustbundle):\/\//.test(name)
    ? name
    : `kubernetes://${name}`;
}

/** `<credential name>-cacert`: the credential that holds the CA beside a key pair. */
export function caOfCredential(credentialName: string): string {
  return `${credentialName}-cacert`;
}

/** `kubernetes://<credential name>-cacert`: SDS name of the CA of a Kubernetes secret. */
export function credentialCaName(credentialName: string): string {
  return credentialSecretName(caOfCredential(credentialName));
}

/** SDS name of the CA of a credential that holds nothing else: the ending says that no key pair is asked for, and may be there already. */
export function ownCaName(credentialName: string): string {
  return credentialName.endsWith(caOfCredential(""))
    ? credentialSecretName(credentialName)
    : credentialCaName(credentialName);
}

/** `/apis/<group>/<version>/namespaces/<namespace>/<kebab-case kind>/<name>`: where Istio's metadata says a thing came from. */
export function configPath(meta: {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): string {
  // Istio writes the version it stores a kind under, not the one the object was written in.
  const version = meta.group === "networking.istio.io" && meta.kind === "EnvoyFilter" ? "v1alpha3" : "v1";
  return `/apis/${meta.group}/${version}/namespaces/${meta.namespace}/${kebabCase(meta.kind)}/${meta.name}`;
}

function kebabCase(kind: string): string {
  // The two that are asked for again and again.
  if (kind === "VirtualService") return "virtual-service";
  if (kind === "DestinationRule") return "destination-rule";
  return kind.replaceAll(/(?<=[a-z0-9])([A-Z])/g, "-$1").toLowerCase();
}

/** `<bind>_<port>`: an outbound or gateway listener, and the chains of an inbound port; the bind may be a unix socket. */
export function listenerName(bind: string, port: number): string {
  return `${bind}_${port}`;
}

/** The listener that all outbound traffic is redirected to. */
export const virtualOutboundListener = "virtualOutbound";

/** The listener that all inbound traffic is redirected to; also the TCP chains for ports that no service names. */
export const virtualInboundListener = "virtualInbound";

/** Chains that refuse connections to a virtual listener's own port: `<listener>-blackhole`. */
export const virtualOutboundBlackHoleChain = `${virtualOutboundListener}-blackhole`;
export const virtualInboundBlackHoleChain = `${virtualInboundListener}-blackhole`;

/** Takes outbound traffic that no listener claims. */
export const virtualOutboundCatchAllChain = `${virtualOutboundListener}-catchall-tcp`;

/** Takes outbound HTTP that no listener claims. */
export const virtualOutboundHttpChain = `${virtualOutboundCatchAllChain}-http`;

/** Takes inbound HTTP for ports that no service names. */
export const virtualInboundHttpChain = `${virtualInboundListener}-catchall-http`;

/** Default chain of an outbound listener whose chains leave something over. */
export const passthroughFilterChain = "PassthroughFilterChain";

/** `<host>:<port>`: the route table of a sniffed port that has a listener of its own. */
export function sniffedRouteTableName(host: string, port: number): string {
  return `${host}:${port}`;
}

/** `<host>:<port>`: what a gRPC program asks for that calls `xds:///<host>:<port>`. */
export const targetListenerName = virtualHostName;

const serverListenerPrefix = "xds.istio.io/grpc/lds/inbound/";

/** `xds.istio.io/grpc/lds/inbound/<address>:<port>`: what a gRPC server asks for that listens there. */
export function serverListenerName(address: string, port: number): string {
  return `${serverListenerPrefix}${bracketed(address)}:${port}`;
}

/** Reads the name of a server's listener; undefined for any other text. */
export function parseServerListenerName(name: string): { readonly address: string; readonly port: number } | undefined {
  if (!name.startsWith(serverListenerPrefix)) return undefined;
  const match = /^(?:\[([^[\]]*)\]|([^[\]:]*)):(\d+)$/.exec(name.slice(serverListenerPrefix.length));
  return match === null ? undefined : { address: match[1] ?? match[2] ?? "", port: Number(match[3]) };
}

/** The one chain of a gRPC server's listener, the connection manager in it, and the table of that. */
export const grpcInboundChain = (kind: "mtls" | "plaintext"): string => `inbound-${kind}`;
export const grpcInboundManager = (kind: "mtls" | "plaintext"): string => `inbound-hcm${kind}`;
export const grpcInboundTable = "inbound";

/** Route table of the mesh's explicit HTTP proxy. */
export const httpProxyRouteTable = "http_proxy";

/** `<host>:<port>`, an IPv6 address in brackets: the name of a virtual host. */
export function virtualHostName(host: string, port: number): string {
  return `${bracketed(host)}:${port}`;
}

/** A domain as Envoy compares it: an IPv6 address in brackets. */
export function bracketed(domain: string): string {
  return domain.includes(":") ? `[${domain}]` : domain;
}

/** The one resource with the names that a DNS proxy answers for. Istio's has no name, and its agents read none. */
export const nameTableName = "names";

/** `inbound|http|<service port>`: the one virtual host of an inline inbound table. */
export function inboundVirtualHostName(port: number): string {
  return `inbound|http|${port}`;
}

/** Virtual host and route for what no other host takes, where it may pass, and where it may not. */
export const allowAnyHost = "allow_any";
export const blockAllHost = "block_all";

/** The same where the hosts of requests are resolved; also the inline table for HTTP that no listener claims. */
export const dynamicDnsHost = "allow_any_dynamic_dns";

/** Leads to the host that a request names, through one cache of names. */
export const dynamicDnsCluster = "AllowAnyDynamicDNSCluster";
export const dynamicDnsCache = "allow_any_dfp_dns_cache";

/** `blackhole:<port>`: the virtual host of a gateway's table that has no other. */
export const blackHoleHost = "blackhole";

/** Route of a service that no VirtualService speaks of. */
export const defaultRoute = "default";

/** `<route>.<match>`, as a VirtualService names them; `<route>` where the match has no name. */
export function routeName(route = "", match = ""): string {
  return match === "" ? route : `${route}.${match}`;
}

/** `<host>:<port><path>`: the operation of a route in traces. */
export function operationName(host: string, port: number, path: string): string {
  return `${host}:${port}${path}`;
}

/** `extensions.istio.io/trafficextension/<namespace>.<name>`: an extension as a filter, and as what is discovered for it. */
export function extensionName(namespace: string, name: string): string {
  return `${extensionPrefix}${namespace}.${name}`;
}

/** What the names of all of these begin with. */
export const extensionPrefix = "extensions.istio.io/trafficextension/";

/** `<plugin>~istio-translated-wasmplugin`: the name that a WasmPlugin has as an extension. */
export function translatedPluginName(plugin: string): string {
  return `${plugin}~istio-translated-wasmplugin`;
}

/** `ns[<namespace>]-policy[<name>]-rule[<index>]`: a rule of an AuthorizationPolicy as an RBAC policy. */
export function rbacPolicyName(policy: { readonly namespace: string; readonly name: string }, rule: number): string {
  return `ns[${policy.namespace}]-policy[${policy.name}]-rule[${rule}]`;
}

/** `<namespace>-<policy>-<index>`: the same at a gRPC server, where it is not always unique. */
export function grpcPolicyName(policy: { readonly namespace: string; readonly name: string }, rule: number): string {
  return `${policy.namespace}-${policy.name}-${rule}`;
}

/** `istio-ext-authz-<provider>`: what the names of the RBAC policies begin with that an external authorizer is asked about. */
export function authorizerMark(provider: string): string {
  return `istio-ext-authz-${provider}`;
}

/** `istio-ext-authz-<provider>-<policy>`, without the provider where it has no name. */
export function askedPolicyName(provider: string, policy: string): string {
  return provider === "" ? `${authorizerMark("")}${policy}` : `${authorizerMark(provider)}-${policy}`;
}

/** An RBAC policy that denies what an external authorizer would be asked about, if it could be. */
export function unaskedPolicyName(askedPolicy: string): string {
  return `${askedPolicy}-deny-due-to-bad-CUSTOM-action`;
}

/** What shadow rules write into statistics and metadata begins with this: for external authorizers, and for dry runs. */
export const authorizerShadowPrefix = "istio_ext_authz_";
export function dryRunShadowPrefix(action: "allow" | "deny"): string {
  return `istio_dry_run_${action}_`;
}

/** Metadata in which shadow rules say which policy holds, and what it would do. */
export const shadowPolicyKey = (prefix: string): string => `${prefix}shadow_effective_policy_id`;
export const shadowResultKey = (prefix: string): string => `${prefix}shadow_engine_result`;

/** `origins-<n>`: a provider of the JWT filter, by its place among the rules sorted by issuer. */
export function jwtProviderName(index: number): string {
  return `origins-${index}`;
}

/** Names of logs that are sent away, unless a provider has one of its own. */
export const httpLogName = "http_envoy_accesslog";
export const tcpLogName = "tcp_envoy_accesslog";
export const listenerLogName = "listener_envoy_accesslog";
export const openTelemetryLogName = "otel_envoy_accesslog";

/** Transport sockets of a cluster that tells endpoints apart: those that take mesh mTLS, and the others. */
export const meshTlsSocket = "tlsMode-istio";
export const plainTextSocket = "tlsMode-disabled";

/** `outbound_<listener>;`, `inbound_<listener>;`: statistics of a connection manager. */
export function httpStatPrefix(direction: "inbound" | "outbound", listener: string): string {
  return altStatName(`${direction}_${listener}`);
}

/** `<name>.<namespace>`: statistics of a TCP route to several clusters, by its VirtualService. */
export function weightedTcpStatPrefix(virtualService: { readonly namespace: string; readonly name: string }): string {
  return `${virtualService.name}.${virtualService.namespace}`;
}

/** Statistics of network filters that check connections. */
export const tcpFilterStatPrefix = "tcp.";

/** What a stat name pattern can speak of. */
export interface StatNameParts {
  /** Host name as the cluster has it. */
  readonly hostname: string;
  readonly subset: string;
  readonly port: number;
  readonly portName: string;
  /** Inbound and client-side patterns have no target port: 0; absent leaves the placeholder as it is. */
  readonly targetPort?: number;
  /** Kubernetes services are named shortly; others by their host. */
  readonly service: Service | undefined;
}

/**
 * Fills a pattern of `inboundClusterStatName` or `outboundClusterStatName`.
 * @see docs/how-istio-does-it/telemetry.md#names-of-statistics
 * @see istio 1.30.3 pilot/pkg/networking/telemetry/telemetry.go, BuildStatPrefix
 */
export function statName(pattern: string, parts: StatNameParts): string {
  const attributes = parts.service?.attributes;
  const kubernetes = attributes?.provider === "Kubernetes" ? attributes : undefined;
  const short = kubernetes === undefined ? parts.hostname : `${kubernetes.name}.${kubernetes.namespace}`;
  const values: readonly (readonly [string, string])[] = [
    ["%SERVICE%", short],
    ["%SERVICE_NAME%", kubernetes?.name ?? parts.hostname],
    ["%SERVICE_FQDN%", parts.hostname],
    ["%SUBSET_NAME%", parts.subset],
    ...(parts.targetPort === undefined ? [] : [["%TARGET_PORT%", String(parts.targetPort)] as const]),
    ["%SERVICE_PORT%", String(parts.port)],
    ["%SERVICE_PORT_NAME%", parts.portName],
  ];
  return values.reduce((name, [placeholder, value]) => name.replaceAll(placeholder, () => value), pattern);
}
