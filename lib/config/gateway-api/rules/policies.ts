import { parseDuration } from "../../../base/duration.ts";
import { error, type Finding, type Path } from "../../finding.ts";
import { duplicates, each } from "../../rules/values.ts";
import type { KubernetesBackend } from "../backend.ts";
import type { BackendTLSPolicy, BackendTrafficPolicy, SubjectAltName } from "../backend-policy.ts";
import type { PolicyTarget } from "../reference.ts";
import { isQualifiedName } from "./listeners.ts";
import { persistenceRules } from "./routes.ts";

/** What the custom resource definition says of a BackendTLSPolicy beyond single fields. */
export function* backendTlsPolicyRules({ targetRefs, validation }: BackendTLSPolicy): Generator<Finding> {
  yield* targetRules(targetRefs);
  yield* validationRules(validation, ["validation"]);
}

function* validationRules(validation: BackendTLSPolicy["validation"], at: Path): Generator<Finding> {
  const { caCertificateRefs = [], wellKnownCACertificates, subjectAltNames } = validation;
  const path = [...at, "caCertificateRefs"];
  if (caCertificateRefs.length > 0 && wellKnownCACertificates !== undefined) {
    yield error(path, "beside wellKnownCACertificates none can be named", "keep one of the two", "conflicting-fields");
  }
  if (caCertificateRefs.length === 0 && wellKnownCACertificates === undefined) {
    const hint = "name a ConfigMap with a ca.crt, or write wellKnownCACertificates: System";
    yield error(path, "no certificates to trust are named", hint, "missing-field");
  }
  yield* each(subjectAltNames, [...at, "subjectAltNames"], nameRules);
}

/**
 * What the custom resource definitions say of an XBackend beyond single fields. One with the port as 1.6 has it is of 1.6, which asks for
 * less.
 */
export function* backendRulesOf(spec: KubernetesBackend): Generator<Finding> {
  const { type, externalHostname, endpointSelector, port, tls, sessionPersistence } = spec;
  for (const [wanted, field, value] of [
    ["ExternalHostname", "externalHostname", externalHostname],
    ["EndpointSelector", "endpointSelector", endpointSelector],
  ] as const) {
    if ((type === wanted) !== (value !== undefined)) {
      yield error([field], `must be there for type ${wanted}, and only for it`, "", "conflicting-fields");
    }
  }
  if ((port.number === undefined) === (port.port === undefined)) {
    yield error(["port"], "needs the number of a port, once", "write number, or port before Gateway API 1.7");
  }
  for (const key of Object.keys(endpointSelector?.matchLabels ?? {})) {
    if (!isQualifiedName(key, 253)) yield error(["endpointSelector", "matchLabels", key], "is no name of a label");
  }
  if (externalHostname?.hostname.endsWith(".cluster.local") === true) {
    const hint = "name the Service in the route";
    yield error(["externalHostname", "hostname"], "must not be a name of this cluster", hint);
  }
  if ((tls.mode === "ClientAndServer") !== (tls.clientCertificateRef !== undefined)) {
    const message = "must be there for mode ClientAndServer, and only for it";
    yield error(["tls", "clientCertificateRef"], message, "", "conflicting-fields");
  }
  if (tls.validation !== undefined) yield* validationRules(tls.validation, ["tls", "validation"]);
  if (port.number === undefined) yield* rulesOf16(spec);
  else yield* rulesOf17(spec);
  if (sessionPersistence === undefined) return;
  const path = ["sessionPersistence"];
  if (type !== "EndpointSelector") yield error(path, "is for type EndpointSelector alone", "", "conflicting-fields");
  yield* persistenceRules(sessionPersistence, path);
  const field = sessionPersistence.type === "Cookie" ? "cookie" : "header";
  if (sessionPersistence[field] === undefined) {
    yield error([...path, field], `is required for type ${sessionPersistence.type}`, "", "missing-field");
  }
}

function* rulesOf16({ type, port, protocol }: KubernetesBackend): Generator<Finding> {
  if (type === "EndpointSelector" || protocol === "WSS" || protocol === "GRPC") {
    const hint = "write port.number in place of port.port";
    yield error(["port"], "a backend of this type or protocol needs Gateway API 1.7", hint);
  }
  if (!portName.test(port.name ?? "")) yield error(["port", "name"], "is no name of a port");
}

const portName = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)?$/;

function* rulesOf17({ port, protocol, tls }: KubernetesBackend): Generator<Finding> {
  if (port.name !== undefined) yield error(["port", "name"], "goes with port.port of Gateway API 1.6 alone");
  if (protocol === "H2C" && tls.mode !== "None") {
    yield error(["protocol"], "H2C is HTTP/2 without TLS", "write HTTP2 for HTTP/2 over TLS", "conflicting-fields");
  }
  if ((protocol === "HTTP2" || protocol === "WSS") && tls.mode === "None") {
    const hint = protocol === "HTTP2" ? "write H2C for HTTP/2 without TLS, or state tls" : "state tls";
    yield error(["protocol"], `${protocol} needs TLS`, hint, "conflicting-fields");
  }
  if ((tls.mode === "None") !== (tls.validation === undefined)) {
    const message = "must be there for modes ServerOnly and ClientAndServer, and only for them";
    yield error(["tls", "validation"], message, "", "conflicting-fields");
  }
}

function* nameRules(name: SubjectAltName, path: Path): Generator<Finding> {
  for (const [type, field] of [
    ["Hostname", "hostname"],
    ["URI", "uri"],
  ] as const) {
    if ((name.type === type) !== (name[field] !== undefined)) {
      yield error([...path, field], `must be there for type ${type}, and only for it`, "", "conflicting-fields");
    }
  }
}

function* targetRules(targets: readonly PolicyTarget[]): Generator<Finding> {
  const first = new Map<string, PolicyTarget>();
  for (const [index, target] of targets.entries()) {
    const object = `${target.group}/${target.kind}/${target.name}`;
    const earlier = first.get(object);
    if (earlier === undefined) first.set(object, target);
    else if ((earlier.sectionName === undefined) !== (target.sectionName === undefined)) {
      const hint = "name a sectionName in each reference to one target";
      yield error(["targetRefs", index], "names a target again, and not as before", hint, "conflicting-fields");
    }
  }
  const identities = targets.map(
    ({ group, kind, name, sectionName = "" }) => `${group}/${kind}/${name}/${sectionName}`,
  );
  for (const [index] of duplicates(identities)) {
    yield error(["targetRefs", index], "names a target that is named before");
  }
}

const second = 1_000_000_000n;
const hour = 3600n * second;

export function* backendTrafficPolicyRules(spec: BackendTrafficPolicy): Generator<Finding> {
  yield* persistenceRules(spec.sessionPersistence, ["sessionPersistence"]);
  const { retryConstraint } = spec;
  if (retryConstraint === undefined) return;
  const budget = parseDuration(retryConstraint.budget.interval) ?? 0n;
  if (budget < second || budget > hour) {
    yield error(["retryConstraint", "budget", "interval"], "must be between one second and one hour");
  }
  const { interval } = retryConstraint.minRetryRate;
  const rate = interval === undefined ? second : (parseDuration(interval) ?? 0n);
  if (rate === 0n || rate > hour) {
    yield error(["retryConstraint", "minRetryRate", "interval"], "must be at most one hour, and not 0");
  }
}
