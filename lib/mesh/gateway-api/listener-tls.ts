import type { Config } from "../../config/config.ts";
import type { FrontendTLS, GatewayTLS, Listener, ListenerTLS } from "../../config/gateway-api/gateway.ts";
import type { ObjectReference, SecretReference } from "../../config/gateway-api/reference.ts";
import type { ServerTLSSettings } from "../../config/kinds/gateway.ts";
import { isCipherSuite } from "../../config/rules/tls/server-tls.ts";
import type { ListenerSource } from "./listener-source.ts";
import { both, type Problem, problem } from "./problem.ts";

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

/**
 * TLS of a listener.
 *
 * @param gatewayTls of the Gateway itself, for all of its listeners
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, buildTLS
 */
export function listenerTls(
  listener: Listener,
  gatewayTls: GatewayTLS | undefined,
  owner: ListenerOwner,
  source: ListenerSource,
): ListenerTls {
  const { tls } = listener;
  if (tls === undefined) return { tls: undefined, problem: undefined };
  if (tls.mode === "Passthrough") {
    const mode = isAutoPassthrough(listener, tls, owner) ? "AUTO_PASSTHROUGH" : "PASSTHROUGH";
    return { tls: { mode, ...cipherSuites(tls) }, problem: undefined };
  }
  const wanted = tls.options?.[modeOption];
  if (wanted === "ISTIO_SIMPLE") return { tls: { mode: "SIMPLE", credentialName: "builtin://" }, problem: undefined };
  if (wanted === "ISTIO_MUTUAL") return { tls: { mode: "ISTIO_MUTUAL" }, problem: undefined };
  const mode = wanted === "MUTUAL" || wanted === "OPTIONAL_MUTUAL" ? wanted : "SIMPLE";
  const certificates = certificatesOf(tls, owner, source);
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
  const ca = trustedRoot(clients, owner, source);
  if (ca.name === undefined) return { tls: own, problem: ca.problem };
  const mutual: ServerTLSSettings = {
    ...own,
    mode: wanted === "OPTIONAL_MUTUAL" ? wanted : "MUTUAL",
    caCertCredentialName: ca.name,
  };
  return { tls: { ...mutual, ...cipherSuites(tls) }, problem: undefined };
}

/** Connections between networks are passed on by a name that sidecars make up; Gateways of networks say so in two ways. */
function isAutoPassthrough({ port }: Listener, { options }: ListenerTLS, { meta }: ListenerOwner): boolean {
  if (options?.[listenerModeOption] === "auto-passthrough") return true;
  if (meta.labels[networkLabel] === undefined) return false;
  return String(port) === (meta.labels[portLabel] ?? "15443");
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
  owner: ListenerOwner,
  source: ListenerSource,
): Certificates {
  if (certificateRefs.length > 2) {
    const message = "TLS mode can only support up to 2 server certificates";
    return { names: [], usable: 0, problem: problem(invalidCertificate, message) };
  }
  const found = certificateRefs.map((ref) => {
    const wrong = certificateProblem(ref, owner, source);
    const name = `kubernetes-gateway://${ref.namespace ?? owner.meta.namespace}/${ref.name}`;
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

function certificateProblem(
  ref: SecretReference,
  { meta }: ListenerOwner,
  source: ListenerSource,
): Problem | undefined {
  const { group, kind, name, namespace = meta.namespace } = ref;
  const told = `invalid certificate reference ${group}/${kind}/${name}.${ref.namespace ?? ""}`;
  if (group !== "" || kind !== "Secret") return problem(invalidCertificate, `${told}, only secret is allowed`);
  const wrong = source.keyPairProblem(namespace, name);
  if (wrong === "not found") {
    return problem(invalidCertificate, `${told}, secret ${namespace}/${name} not found`);
  }
  if (wrong !== "") return problem(invalidCertificate, `${told}, ${wrong}`);
  if (namespace === meta.namespace || source.isGranted(meta.kind, meta.namespace, "", "Secret", namespace, name)) {
    return undefined;
  }
  const message = `certificateRef ${name}/${namespace} not accessible to a Gateway in namespace "${meta.namespace}" (missing a ReferenceGrant?)`;
  return problem(notPermitted, message);
}

function clientValidation(tls: GatewayTLS | undefined, port: number): FrontendTLS["validation"] {
  const { frontend } = tls ?? {};
  if (frontend === undefined) return undefined;
  const ofPort = frontend.perPort?.find((one) => one.port === port)?.tls ?? frontend.default;
  return ofPort.validation;
}

/** Whose certificates clients must show. */
function trustedRoot(
  { caCertificateRefs }: NonNullable<FrontendTLS["validation"]>,
  { meta }: ListenerOwner,
  source: ListenerSource,
): { readonly name?: string; readonly problem: Problem | undefined } {
  const [ref, ...others] = caCertificateRefs;
  if (ref === undefined || others.length > 0) {
    return { problem: problem(invalidCertificate, "only one caCertificateRef is supported") };
  }
  const { kind, name, namespace = meta.namespace } = ref;
  const wrong = rootProblem(ref, namespace, source);
  if (wrong !== undefined) return { problem: wrong };
  // As in Istio, what may be named is the name of the resource, with its suffix.
  const resource = `${name}-cacert`;
  if (namespace !== meta.namespace && !source.isGranted(meta.kind, meta.namespace, "", kind, namespace, resource)) {
    const message = `caCertificateRef ${namespace}/${name} not accessible to a Gateway in namespace "${meta.namespace}" (missing a ReferenceGrant?)`;
    return { problem: problem(notPermitted, message) };
  }
  const scheme = kind === "ConfigMap" ? "configmap" : "kubernetes-gateway";
  return { name: `${scheme}://${namespace}/${resource}`, problem: undefined };
}

function rootProblem(ref: ObjectReference, namespace: string, source: ListenerSource): Problem | undefined {
  const { group, kind, name } = ref;
  const told = `invalid CA certificate reference ${group}/${kind}/${name}.${ref.namespace ?? ""}`;
  if (group !== "" || (kind !== "ConfigMap" && kind !== "Secret")) {
    return problem(invalidCertificate, `${told}, only secret and configmap are allowed`);
  }
  const wrong = source.rootProblem(kind, namespace, name);
  if (wrong === "not found") {
    return problem(invalidCertificate, `${told}, ${kind.toLowerCase()} ${namespace}/${name} not found`);
  }
  return wrong === "" ? undefined : problem(invalidCertificate, `${told}, ${wrong}`);
}
