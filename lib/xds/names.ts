/**
 * Every name that the generators make. People write dashboards, routes and EnvoyFilters against them, and Istio's
 * proxies agree on them across control planes: changing one is a breaking change.
 * @see istio 1.30.3 pilot/pkg/model/service.go, BuildSubsetKey and BuildDNSSrvSubsetKey
 */

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

const portOf = (text: string): number => (/^\d+$/.test(text) ? Number(text) : 0);

/** STATIC without endpoints: takes what a registry-only mesh refuses. */
export const blackHoleCluster = "BlackHoleCluster";

/** Sends outbound traffic to where it was going. */
export const passthroughCluster = "PassthroughCluster";

/** Sends inbound traffic on an unknown port to the workload. */
export const inboundPassthroughCluster = "InboundPassthroughCluster";

/** Bootstrap cluster of the local SDS server. */
export const sdsCluster = "sds-grpc";

/** Bootstrap cluster of Envoy's access log service, there if the proxy's settings give its address. */
export const accessLogServiceCluster = "envoy_accesslog_service";

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

/**
 * `kubernetes://<credential name>`: SDS name of a key pair in a Kubernetes secret. A name that says its kind keeps it, but
 * `sds://` (a server of its own) falls back to the secret, and a malformed `invalid://` to nothing that exists.
 */
export function credentialSecretName(credentialName: string): string {
  const name = credentialName.startsWith("sds://") ? credentialName.slice("sds://".length) : credentialName;
  if (name.startsWith("builtin://")) return workloadCertificate;
  if (name.startsWith("invalid://")) return "invalid://";
  return /^(?:kubernetes|kubernetes-gateway|configmap):\/\//.test(name) ? name : `kubernetes://${name}`;
}

/** `kubernetes://<credential name>-cacert`: SDS name of the CA of a Kubernetes secret. */
export function credentialCaName(credentialName: string): string {
  return credentialSecretName(`${credentialName}-cacert`);
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
  return ["/apis", meta.group, version, "namespaces", meta.namespace, kebabCase(meta.kind), meta.name].join("/");
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

/** Takes inbound HTTP for ports that no service names. */
export const virtualInboundHttpChain = `${virtualInboundListener}-catchall-http`;

/** Default chain of an outbound listener whose chains leave something over. */
export const passthroughFilterChain = "PassthroughFilterChain";

/** `<host>:<port>`: the route table of a sniffed port that has a listener of its own. */
export function sniffedRouteTableName(host: string, port: number): string {
  return `${host}:${port}`;
}

/** Route table of the mesh's explicit HTTP proxy. */
export const httpProxyRouteTable = "http_proxy";
