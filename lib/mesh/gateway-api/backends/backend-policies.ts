import { formatDuration, parseDuration } from "../../../base/duration.ts";
import type { Config } from "../../../config/config.ts";
import type { KubernetesBackend } from "../../../config/gateway-api/backend.ts";
import type { BackendTLSPolicy, BackendTrafficPolicy } from "../../../config/gateway-api/backend-policy.ts";
import type { PolicyTarget } from "../../../config/gateway-api/reference.ts";
import type { ClientTLSSettings, RetryBudget } from "../../../config/kinds/destination-rule.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { Draft, Drafts } from "../conditions.ts";
import { type Problem, problem } from "../problem.ts";
import type { PolicySource } from "./policy-source.ts";

/** A policy for backends, with what it says of each of them. */
export interface MadePolicy {
  readonly config: Config<BackendTLSPolicy> | Config<BackendTrafficPolicy> | Config<KubernetesBackend>;
  readonly settings: readonly BackendSettings[];
  readonly ancestors: readonly Ancestor[];
}

/** What one policy says of one host. */
export interface BackendSettings {
  readonly policy: MadePolicy["config"];
  readonly target: Pick<PolicyTarget, "kind" | "name">;
  readonly host: string;
  /** Of one port only; undefined: of all. */
  readonly port: number | undefined;
  readonly tls?: ClientTLSSettings;
  readonly retryBudget?: RetryBudget;
}

/** One entry of a policy's status. */
export interface Ancestor {
  readonly ref: Readonly<Record<string, string>>;
  /** Whether a Gateway is told of, and not a target. */
  readonly isGateway: boolean;
  readonly conditions: Drafts;
}

/** Keeps a policy from being read. */
const ignoreAnnotation = "istio.io/ignore-policy-attachment";
export const valid = "Configuration is valid";

function isIgnored({ meta }: Config): boolean {
  return meta.annotations[ignoreAnnotation]?.toLowerCase() === "true";
}

const ignored: Drafts = {
  Accepted: {
    reason: "Accepted",
    message: valid,
    problem: problem("IgnoredByIstio", `Ignored by Istio due to annotation ${ignoreAnnotation}=true`),
  },
};

export const isConsidered = (config: Config): boolean => !isIgnored(config);

const refOf = ({ group, kind, name, sectionName }: PolicyTarget): Readonly<Record<string, string>> => ({
  group,
  kind,
  name,
  ...(sectionName === undefined ? {} : { sectionName }),
});

/** One that its annotation takes out of force: every target is told so. */
const ignoredPolicy = (config: Config<BackendTLSPolicy> | Config<BackendTrafficPolicy>): MadePolicy => ({
  config,
  settings: [],
  ancestors: config.spec.targetRefs.map((target) => ({ ref: refOf(target), isGateway: false, conditions: ignored })),
});

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/backend_policies.go, BackendTLSPolicyCollection */
export const madeTlsPolicy = trackedQuery(
  "TLS policy of the Gateway API",
  ({ config }: { readonly config: Config<BackendTLSPolicy> }, source: PolicySource): MadePolicy => {
    const { spec, meta } = config;
    if (isIgnored(config)) return ignoredPolicy(config);
    const credential = credentialOf(config, source);
    const tls = tlsSettings(spec.validation, credential.name);
    const settings: BackendSettings[] = [];
    const ancestors: Ancestor[] = [];
    const gateways = new Set<string>();
    // As in Istio, what is wrong with one target is told of those after it as well.
    let wrong = credential.problem;
    const conditions = (): Drafts => ({
      Accepted: { ...credential.accepted, problem: wrong },
      ResolvedRefs: credential.resolved,
    });
    for (const target of spec.targetRefs) {
      const found = tlsTarget(target, config, source);
      if (found.kind === "wrong") wrong = found.problem;
      else {
        const rival = source.rival(meta.namespace, meta.name, target.kind, target.name, target.sectionName ?? "");
        if (rival !== "") {
          wrong = problem("Conflicted", `Conflicts with BackendTLSPolicy "${rival}" targeting the same backend`);
        } else for (const host of found.hosts) settings.push({ policy: config, target, host, port: found.port, tls });
        for (const gateway of source.gatewaysTo(target.kind, meta.namespace, target.name)) gateways.add(gateway);
      }
      ancestors.push({ ref: refOf(target), isGateway: false, conditions: conditions() });
    }
    for (const gateway of [...gateways].sort()) {
      const name = gateway.slice(gateway.indexOf("/") + 1);
      const ref = { group: "gateway.networking.k8s.io", kind: "Gateway", name };
      ancestors.push({ ref, isGateway: true, conditions: conditions() });
    }
    return { config, settings, ancestors };
  },
);

export function tlsSettings(
  { hostname, subjectAltNames = [] }: BackendTLSPolicy["validation"],
  credentialName: string,
): ClientTLSSettings {
  const names = subjectAltNames.flatMap((name) => (name.type === "Hostname" ? name.hostname : name.uri) ?? []);
  return {
    mode: "SIMPLE",
    sni: hostname,
    ...(names.length === 0 ? {} : { subjectAltNames: names }),
    ...(credentialName === "" ? {} : { credentialName }),
  };
}

type FoundTarget =
  | { readonly kind: "found"; readonly hosts: readonly string[]; readonly port: number | undefined }
  | { readonly kind: "wrong"; readonly problem: Problem };

function tlsTarget(target: PolicyTarget, { meta }: Config, source: PolicySource): FoundTarget {
  const { namespace, domain } = meta;
  const { kind, name, sectionName } = target;
  const missing = missingReference(target, namespace, source);
  if (missing !== undefined) return wrongTarget(missing);
  const ports =
    kind === "Service"
      ? source.servicePorts(namespace, name)
      : kind === "ServiceEntry"
        ? source.entryPorts(namespace, name)
        : undefined;
  if (ports === undefined) return wrongTarget(`unsupported reference kind: ${kind}`);
  const port = ports.find((one) => one.name === sectionName)?.number;
  if (sectionName !== undefined && port === undefined) {
    return wrongTarget(`sectionName "${sectionName}" does not exist in ${kind} ${namespace}/${name}`);
  }
  const hosts =
    kind === "Service" ? [`${name}.${namespace}.svc.${domain}`] : (source.entryHosts(namespace, name) ?? []);
  return { kind: "found", hosts, port };
}

const wrongTarget = (message: string): FoundTarget => ({
  kind: "wrong",
  problem: problem("TargetNotFound", `targetRefs invalid: ${message}`),
});

/** Why an object that is named is not there; undefined: it is. */
function missingReference(
  { group, kind, name }: PolicyTarget,
  namespace: string,
  source: PolicySource,
): string | undefined {
  const isThere = isReferenceThere(`${group}/${kind}`, namespace, name, source);
  if (isThere === undefined) return `unsupported kind ${kind}`;
  return isThere ? undefined : `reference ${namespace}/${name} (of kind ${kind}) not found`;
}

function isReferenceThere(kind: string, namespace: string, name: string, source: PolicySource): boolean | undefined {
  switch (kind) {
    case "/Service":
      return source.servicePorts(namespace, name) !== undefined;
    case "networking.istio.io/ServiceEntry":
      return source.entryHosts(namespace, name) !== undefined;
    case "/ConfigMap":
      return source.configMapRootProblem(namespace, name) !== "not found";
    case "certificates.k8s.io/ClusterTrustBundle":
      return source.clusterRootProblem(name) !== "not found";
    case "/Secret":
      return source.hasSecret(namespace, name);
    default:
      return undefined;
  }
}

interface TlsValidated {
  readonly spec: Pick<BackendTLSPolicy, "validation">;
  readonly meta: Pick<Config["meta"], "namespace">;
}

/** Where the certificates are that a backend's are checked against. */
interface TrustedCredential {
  /** "" for those of the system. */
  readonly name: string;
  readonly accepted: Draft;
  readonly resolved: Draft;
  readonly problem: Problem | undefined;
}

/** Names no certificate, so that no connection is made. */
export const invalidCredential = "invalid://";

export function credentialOf({ spec, meta }: TlsValidated, source: PolicySource): TrustedCredential {
  const { wellKnownCACertificates: known, caCertificateRefs = [] } = spec.validation;
  const accepted: Draft = { reason: "Accepted", message: valid };
  const resolved: Draft = { reason: "ResolvedRefs", message: valid };
  const [ref, ...others] = caCertificateRefs;
  if (known !== undefined || ref === undefined) {
    const unknown = known !== undefined && known !== "System";
    const wrong = unknown ? problem("Invalid", `Unknown wellKnownCACertificates: ${known}`) : undefined;
    return { name: "", accepted, resolved, problem: wrong };
  }
  const told: Draft =
    others.length === 0
      ? accepted
      : { ...accepted, message: `${valid}; warning: only the first caCertificateRefs will be used` };
  const refused = (reason: string, message: string, why: string): TrustedCredential => ({
    name: invalidCredential,
    accepted: told,
    resolved: { ...resolved, problem: problem(reason, message) },
    problem: problem("NoValidCACertificate", `Certificate reference invalid: ${why}`),
  });
  const missing = missingReference(ref, meta.namespace, source);
  if (missing !== undefined) {
    return missing.startsWith("unsupported kind")
      ? refused("InvalidKind", `Certificate reference not supported: ${missing}`, missing)
      : refused("InvalidCACertificateRef", `Certificate reference not found: ${missing}`, missing);
  }
  // Istio takes ConfigMaps alone.
  const isOfCluster = ref.kind === "ClusterTrustBundle";
  if (ref.kind !== "ConfigMap" && !isOfCluster) {
    const why = `unsupported reference kind: ${ref.kind}`;
    return refused("InvalidKind", `Certificate reference invalid: ${why}`, why);
  }
  const wrong = isOfCluster
    ? source.clusterRootProblem(ref.name)
    : source.configMapRootProblem(meta.namespace, ref.name);
  // Whether they can be read is not asked: Envoy says so.
  if (wrong !== "" && wrong !== unreadableBundle) {
    return refused("InvalidCACertificateRef", `Certificate invalid: ${wrong}`, wrong);
  }
  const name = isOfCluster ? `clustertrustbundle://${ref.name}` : `configmap://${meta.namespace}/${ref.name}`;
  return { name, accepted: told, resolved, problem: undefined };
}

const unreadableBundle = "the bundle is malformed";

/** What Istio does not serve of a traffic policy. */
const unsupported = `${valid}, but Istio does not support the following fields: sessionPersistence`;

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/backend_policies.go, BackendTrafficPolicyCollection */
export const madeTrafficPolicy = trackedQuery(
  "traffic policy of the Gateway API",
  ({ config }: { readonly config: Config<BackendTrafficPolicy> }, source: PolicySource): MadePolicy => {
    const { spec, meta } = config;
    const { namespace, domain } = meta;
    if (isIgnored(config)) return ignoredPolicy(config);
    const settings: BackendSettings[] = [];
    const ancestors: Ancestor[] = [];
    const message = spec.sessionPersistence === undefined ? valid : unsupported;
    const retryBudget = retryBudgetOf(spec, source);
    let wrong: Problem | undefined;
    for (const target of spec.targetRefs) {
      const { kind, name } = target;
      const missing = missingReference(target, namespace, source);
      if (missing !== undefined) wrong = problem("TargetNotFound", `targetRefs invalid: ${missing}`);
      else if (kind !== "Service") {
        wrong = problem("TargetNotFound", `targetRefs invalid: unsupported reference kind: ${kind}`);
      } else {
        const host = `${name}.${namespace}.svc.${domain}`;
        settings.push({
          policy: config,
          target,
          host,
          port: undefined,
          ...(retryBudget === undefined ? {} : { retryBudget }),
        });
      }
      const conditions = { Accepted: { reason: "Accepted", message, problem: wrong } };
      ancestors.push({ ref: refOf(target), isGateway: false, conditions });
    }
    return { config, settings, ancestors };
  },
);

function retryBudgetOf({ retryConstraint }: BackendTrafficPolicy, source: PolicySource): RetryBudget | undefined {
  if (retryConstraint === undefined) return undefined;
  const { budget, minRetryRate } = retryConstraint;
  const interval = source.readsBudgetInterval() ? parseDuration(budget.interval) : undefined;
  return {
    percent: budget.percent,
    minRetryConcurrency: minRetryRate.count ?? 10,
    ...(interval === undefined ? {} : { budgetInterval: formatDuration(interval) }),
  };
}
