import type { Config } from "../../../config/config.ts";
import type { FrontendTLS, GatewayTLS, Listener, ListenerTLS } from "../../../config/gateway-api/gateway.ts";
import type { ObjectReference, SecretReference } from "../../../config/gateway-api/reference.ts";
import type { ServerTLSSettings } from "../../../config/kinds/gateway.ts";
import { isCipherSuite } from "../../../config/rules/tls/server-tls.ts";
import type { Labels } from "../../../config/values/labels.ts";
import type { ReleaseRules } from "../../release-rules.ts";
import { both, type Problem, problem } from "../problem.ts";
import type { ListenerSource, RootKind } from "./listener-source.ts";

const modeOption = "gateway.istio.io/tls-terminate-mode";
const cipherOption = "gateway.istio.io/tls-cipher-suites";
const listenerModeOption = "gateway.istio.io/listener-protocol";
const networkLabel = "topology.istio.io/network";
const portLabel = "networking.istio.io/gatewayPort";

export interface ListenerTls {
  readonly tls: ServerTLSSettings | undefined;
  readonly problem: Problem | undefined;
}

/** The object that has a listener: a Gateway or a ListenerSet. */
export type ListenerOwner = Pick<Config, "meta">;

/** Whose listener it is, and what holds for all of its listeners. */
export interface TlsContext {
  readonly owner: ListenerOwner;
  /** Of the Gateway itself. */
  readonly gatewayTls: GatewayTLS | undefined;
  readonly rules: Pick<ReleaseRules, "reportsListenersOnGateways">;
}

/**
 * TLS of a listener.
 *
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, buildTLS
 */
export function listenerTls(listener: Listener, context: TlsContext, source: ListenerSource): ListenerTls {
  const { tls } = listener;
  const { owner, gatewayTls } = context;
  if (tls === undefined) return { tls: undefined, problem: undefined };
  if (tls.mode === "Passthrough") {
    const mode = isAutoPassthrough(listener.port, tls, owner.meta.labels) ? "AUTO_PASSTHROUGH" : "PASSTHROUGH";
    return { tls: { mode, ...cipherSuites(tls) }, problem: undefined };
  }
  const wanted = tls.options?.[modeOption];
  if (wanted === "ISTIO_SIMPLE") return { tls: { mode: "SIMPLE", credentialName: "builtin://" }, problem: undefined };
  if (wanted === "ISTIO_MUTUAL") return { tls: { mode: "ISTIO_MUTUAL" }, problem: undefined };
  const mode = wanted === "MUTUAL" || wanted === "OPTIONAL_MUTUAL" ? wanted : "SIMPLE";
  const certificates = certificatesOf(tls, context, source);
  if (certificates.usable === 0) return { tls: { mode }, problem: certificates.problem };
  // As in Istio, the first one is named where one can be used, be it that one or not.
  const [first = ""] = certificates.names;
  const own: ServerTLSSettings = {
    mode,
    ...(certificates.usable > 1
      ? { credentialNames: certificates.names }
      : first === ""
        ? {}
        : { credentialName: first }),
  };
  const clients = clientValidation(gatewayTls, listener.port);
  if (clients === undefined) return { tls: { ...own, ...cipherSuites(tls) }, problem: undefined };
  const ca = trustedRoot(clients, context, source);
  if (ca.name === undefined) return { tls: own, problem: ca.problem };
  const mutual = { ...own, ...clientMode(clients, wanted), caCertCredentialName: ca.name };
  return { tls: { ...mutual, ...cipherSuites(tls) }, problem: undefined };
}

type ClientValidation = NonNullable<FrontendTLS["validation"]>;

/** What is asked of clients. The option of the listener says more than the mode of the Gateway. */
function clientMode({ mode }: ClientValidation, wanted: string | undefined): ServerTLSSettings {
  if (wanted === "MUTUAL" || wanted === "OPTIONAL_MUTUAL") return { mode: wanted };
  return mode === "AllowInsecureFallback" ? { mode: "OPTIONAL_MUTUAL", insecureSkipVerify: true } : { mode: "MUTUAL" };
}

/** Whether a Gateway lets clients through that no root vouches for, on any of its ports. */
export function isInsecure({ frontend }: GatewayTLS = {}): boolean {
  const ofPorts = frontend?.perPort?.map(({ tls }) => tls) ?? [];
  return [frontend?.default, ...ofPorts].some((one) => one?.validation?.mode === "AllowInsecureFallback");
}

/** Connections between networks are passed on by a name that sidecars make up; Gateways of networks say so in two ways. */
export function isAutoPassthrough(port: number, { options }: ListenerTLS, labels: Labels): boolean {
  if (options?.[listenerModeOption] === "auto-passthrough") return true;
  if (labels[networkLabel] === undefined) return false;
  return String(port) === (labels[portLabel] ?? "15443");
}

function cipherSuites({ options }: ListenerTLS): ServerTLSSettings {
  const named = (options?.[cipherOption] ?? "").split(",").map((name) => name.trim());
  const usable = [...new Set(named)].filter((name) => name !== "" && isCipherSuite(name));
  return usable.length === 0 ? {} : { cipherSuites: usable };
}

interface Certificates {
  /** In the order of the references; "" for one that cannot be used. */
  readonly names: readonly string[];
  readonly usable: number;
  readonly problem: Problem | undefined;
}

function certificatesOf(
  { certificateRefs = [] }: ListenerTLS,
  context: TlsContext,
  source: ListenerSource,
): Certificates {
  if (certificateRefs.length > 2) {
    const message = "TLS mode can only support up to 2 server certificates";
    return { names: [], usable: 0, problem: problem(invalidCertificate, message) };
  }
  const found = certificateRefs.map((ref) => {
    const wrong = certificateProblem(ref, context, source);
    const name = `kubernetes-gateway://${ref.namespace ?? context.owner.meta.namespace}/${ref.name}`;
    return { name: wrong === undefined ? name : "", wrong };
  });
  return {
    names: found.map(({ name }) => name),
    usable: found.filter(({ wrong }) => wrong === undefined).length,
    problem: found.reduce<Problem | undefined>((all, { wrong }) => both(all, wrong), undefined),
  };
}

const invalidCertificate = "InvalidCertificateRef";
const notPermitted = "RefNotPermitted";

/** Reasons for which a listener has nobody to check its clients by. */
const withoutAuthority: ReadonlySet<string> = new Set([
  "InvalidCACertificateRef",
  "InvalidCACertificateKind",
  notPermitted,
]);

/** What a problem of TLS says against the listener itself, and not only against its references. */
export const listenerProblem = (
  wrong: Problem | undefined,
  { reportsListenersOnGateways }: TlsContext["rules"],
): Problem | undefined =>
  wrong !== undefined && reportsListenersOnGateways && withoutAuthority.has(wrong.reason)
    ? problem("NoValidCACertificate", wrong.message)
    : undefined;

/** From 1.31 on a grant comes before the rest: a status tells nothing of objects that none opens. */
function certificateProblem(
  ref: SecretReference,
  { owner: { meta }, rules }: TlsContext,
  source: ListenerSource,
): Problem | undefined {
  const { group, kind, name, namespace = meta.namespace } = ref;
  const message = `certificateRef ${name}/${namespace} not accessible to a Gateway in namespace "${meta.namespace}" (missing a ReferenceGrant?)`;
  const isOpen = (): boolean =>
    namespace === meta.namespace || source.isGranted(meta.kind, meta.namespace, "", "Secret", namespace, name);
  if (rules.reportsListenersOnGateways && !isOpen()) return problem(notPermitted, message);
  const told = `invalid certificate reference ${group}/${kind}/${name}.${ref.namespace ?? ""}`;
  if (group !== "" || kind !== "Secret") return problem(invalidCertificate, `${told}, only secret is allowed`);
  const wrong = source.keyPairProblem(namespace, name);
  if (wrong === "not found") {
    return problem(invalidCertificate, `${told}, secret ${namespace}/${name} not found`);
  }
  if (wrong !== "") return problem(invalidCertificate, `${told}, ${wrong}`);
  return isOpen() ? undefined : problem(notPermitted, message);
}

function clientValidation(tls: GatewayTLS | undefined, port: number): FrontendTLS["validation"] {
  const { frontend } = tls ?? {};
  if (frontend === undefined) return undefined;
  const ofPort = frontend.perPort?.find((one) => one.port === port)?.tls ?? frontend.default;
  return ofPort.validation;
}

/** Whose certificates clients must show. */
function trustedRoot(
  { caCertificateRefs }: ClientValidation,
  { owner: { meta }, rules }: TlsContext,
  source: ListenerSource,
): { readonly name?: string; readonly problem: Problem | undefined } {
  const [ref, ...others] = caCertificateRefs;
  if (ref === undefined || others.length > 0) {
    return { problem: problem(rootReasons(rules).ref, "only one caCertificateRef is supported") };
  }
  const { kind, name, namespace = meta.namespace } = ref;
  // As in Istio, what may be named is the name of the resource, with its suffix.
  const resource = `${name}-cacert`;
  const isOpen = (): boolean =>
    kind === "ClusterTrustBundle" ||
    namespace === meta.namespace ||
    source.isGranted(meta.kind, meta.namespace, "", kind, namespace, resource);
  const message = `caCertificateRef ${namespace}/${name} not accessible to a Gateway in namespace "${meta.namespace}" (missing a ReferenceGrant?)`;
  const closed = { problem: problem(notPermitted, message) };
  if (rules.reportsListenersOnGateways && !isOpen()) return closed;
  const wrong = rootProblem(ref, namespace, rules, source);
  if (wrong !== undefined) return { problem: wrong };
  if (!isOpen()) return closed;
  if (kind === "ClusterTrustBundle") return { name: `clustertrustbundle://${resource}`, problem: undefined };
  const scheme = kind === "ConfigMap" ? "configmap" : "kubernetes-gateway";
  return { name: `${scheme}://${namespace}/${resource}`, problem: undefined };
}

/** What conditions call references to authorities that cannot be used. */
const rootReasons = ({ reportsListenersOnGateways }: TlsContext["rules"]) =>
  reportsListenersOnGateways
    ? ({ ref: "InvalidCACertificateRef", kind: "InvalidCACertificateKind" } as const)
    : ({ ref: invalidCertificate, kind: invalidCertificate } as const);

/** Istio takes the first two alone. */
function rootKindOf({ group, kind }: ObjectReference): RootKind | undefined {
  if (group === "" && (kind === "ConfigMap" || kind === "Secret")) return kind;
  return group === "certificates.k8s.io" && kind === "ClusterTrustBundle" ? kind : undefined;
}

function rootProblem(
  ref: ObjectReference,
  namespace: string,
  rules: TlsContext["rules"],
  source: ListenerSource,
): Problem | undefined {
  const reasons = rootReasons(rules);
  const { group, kind, name } = ref;
  const told = `invalid CA certificate reference ${group}/${kind}/${name}.${ref.namespace ?? ""}`;
  const known = rootKindOf(ref);
  if (known === undefined) {
    return problem(reasons.kind, `${told}, only secret and configmap are allowed`);
  }
  const wrong = source.rootProblem(known, namespace, name);
  if (wrong === "not found") {
    const where = known === "ClusterTrustBundle" ? name : `${namespace}/${name}`;
    return problem(reasons.ref, `${told}, ${kind.toLowerCase()} ${where} not found`);
  }
  return wrong === "" ? undefined : problem(reasons.ref, `${told}, ${wrong}`);
}
