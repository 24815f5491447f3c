import type { UpstreamHttpProtocolOptionsJson } from "../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { ClientTLSSettings } from "../../config/kinds/destination-rule.ts";
import { systemRoots } from "../../config/rules/tls/client-tls.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import { closedCredential, sniDnatClusterName } from "../names.ts";
import { upstreamContext } from "../tls/upstream-context.ts";
import { infersMtls, upstreamTls } from "../tls/upstream-settings.ts";
import { automaticNames, proxyProtocolSockets, type Sockets, tlsSockets } from "../tls/upstream-sockets.ts";
import type { ClusterClass } from "./cluster-class.ts";
import { type ClusterDraft, keepsOriginalDestination } from "./cluster-draft.ts";
import type { UpstreamHttp } from "./http-options.ts";
import { originatesTls } from "./metadata.ts";

/** The sockets of a cluster, and the HTTP options that its TLS needs. */
export interface UpstreamSecurity {
  readonly sockets: Sockets;
  readonly upstream: UpstreamHttpProtocolOptionsJson | undefined;
}

/**
 * How connections of a cluster are secured: by its rule, or automatically.
 * @see docs/how-istio-does-it/clusters.md#tls-settings-that-apply
 */
export function secureUpstream(draft: ClusterDraft, proxies: ClusterClass, http: UpstreamHttp): UpstreamSecurity {
  const { service, port, rule, accounts, policy } = draft;
  const { mesh } = proxies;
  const dynamic = draft.discovery === "dynamic";
  const statedFor = draft.subset === undefined ? rule?.config.spec.trafficPolicy : draft.subset.trafficPolicy;
  const tls = upstreamTls({
    stated: policy?.tls,
    meshExternal: service.meshExternal,
    accounts,
    sni: dynamic ? "" : sniDnatClusterName(port.port, draft.subset?.name ?? "", service.hostname),
    infersMtls: policy?.tls === undefined && infersMtls(mesh, draft, statedFor),
    clientFiles: proxies.clientFiles,
  });
  if (tls === undefined) return { sockets: proxyProtocolSockets({}, policy?.proxyProtocol), upstream: undefined };
  // Asked only where it matters: what is asked of a proxy tells sidecars and gateways apart.
  const isRouter = () => draft.seen.proxyType === "router";
  const mayUse = (name: string | undefined): boolean => mayFetch(name ?? "", rule) || isRouter();
  const settings = closedWithoutKey(tls.settings, mayUse);
  const mayUseCredential = mayUse(settings.credentialName);
  const context = upstreamContext({
    settings,
    defaultSni: dynamic ? "" : draft.name,
    http2: http.protocol === "http2",
    declaredNames: service.attributes.provider === "External" ? accounts : [],
    mayUseCredential,
    mayUseCaCredential: mayUse(settings.caCertCredentialName),
    mesh,
  });
  const sockets = tlsSockets(
    context,
    tls.automatic && settings.mode === "ISTIO_MUTUAL",
    keepsOriginalDestination(draft),
  );
  // A dynamic cluster has no one name to put into its context, so that of the request counts in the mesh too.
  const namedByRequest = settings.mode === "ISTIO_MUTUAL" ? dynamic : originatesTls(settings) && mayUseCredential;
  return {
    sockets: proxyProtocolSockets(sockets, policy?.proxyProtocol),
    upstream: namedByRequest ? automaticNames(settings, dynamic) : undefined,
  };
}

/**
 * A key pair that the Gateway API names is for gateways. A sidecar that may not fetch it makes no connection, where Istio's rules
 * have plain text.
 */
function closedWithoutKey(
  settings: ClientTLSSettings,
  mayUse: (name: string | undefined) => boolean,
): ClientTLSSettings {
  const { credentialName, caCertCredentialName: _unread, ...others } = settings;
  if (credentialName?.startsWith("kubernetes-gateway://") !== true || mayUse(credentialName)) return settings;
  return { ...others, mode: "SIMPLE", credentialName: closedCredential };
}

/**
 * Whether a sidecar may fetch the credential of a rule. A rule without selector would hand it to every sidecar in
 * reach, most of which may not read it and would wait for it in vain; trust bundles are open to all, and so is what no server has. The
 * bare `invalid://` of a policy is plain text at sidecars, as in Istio.
 */
function mayFetch(credential: string, rule: MeshDestinationRule | undefined): boolean {
  return (
    credential === "" ||
    credential === systemRoots ||
    /^(?:configmap|clustertrustbundle|invalid):\/\/./.test(credential) ||
    rule?.config.spec.workloadSelector !== undefined
  );
}
