import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { closesNamespace } from "../../config/fail-closed/closed-object.ts";
import type { MutualTLS, PeerAuthentication } from "../../config/kinds/peer-authentication.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import { query } from "../../incremental/query.ts";
import type { Service, ServicePort } from "../../registry/service.ts";
import type { MutualTlsMode } from "../views/views.ts";
import type { ServedWorkload } from "./policy-attachment.ts";

/**
 * Which mode of mutual TLS holds where.
 * @see docs/how-istio-does-it/security.md#mutual-tls
 * @see docs/how-istio-does-it/security.md#what-clients-guess
 */
export interface PeerAuthenticationIndex {
  /** Mode of a namespace; undefined: neither the namespace nor the mesh has a policy. */
  namespaceMode(namespace: string): MutualTlsMode | undefined;
  /** Mode of a service's port as clients guess it, who do not know its workloads; undefined: nothing says. */
  serviceMode(service: Service, port: ServicePort): MutualTlsMode | undefined;
  /** The oldest policy that selects the workload; policies with a selector in the root namespace select nothing. */
  workloadPolicy(namespace: string, labels: Labels): Config<PeerAuthentication> | undefined;
  /** Mode on one port that the workload listens on. */
  workloadMode(namespace: string, labels: Labels, port: number): MutualTlsMode;
  /** What holds on the ports of a workload whose services are known. */
  servedModes(workload: ServedWorkload): ServedModes;
}

/** The modes of a workload's ports, for `workloadModeOf`. */
export interface ServedModes {
  /** The policy for this workload. */
  readonly policy: Config<PeerAuthentication> | undefined;
  /** What holds where that says nothing; undefined: nothing says. */
  readonly general: MutualTlsMode | undefined;
}

/** The index, remembered. */
export const peerAuthenticationIndex = query(
  "peer authentication index",
  ({
    configs,
    rootNamespace,
  }: {
    readonly configs: readonly Config<PeerAuthentication>[];
    readonly rootNamespace: string;
  }) => indexPeerAuthentications(configs, rootNamespace),
);

/**
 * @param configs oldest first; only the oldest policy of a namespace without selector counts. A stand-in for a refused policy of which
 *   nobody knows what it selects goes before all others of its namespace, and in the root namespace before all others
 */
export function indexPeerAuthentications(
  configs: readonly Config<PeerAuthentication>[],
  rootNamespace: string,
): Stage<PeerAuthenticationIndex> {
  const diagnostics: Diagnostic[] = [];
  const general = new Map<string, Config<PeerAuthentication>>();
  const selecting = new Map<string, Config<PeerAuthentication>[]>();
  const closing = new Map<string, Config<PeerAuthentication>>();
  for (const config of configs) {
    const { namespace } = config.meta;
    if (closesNamespace(config)) {
      closing.set(namespace, config);
      continue;
    }
    if (Object.keys(selectorOf(config)).length > 0) {
      if (namespace === rootNamespace) diagnostics.push(inRootNamespace(config));
      else selecting.set(namespace, [...(selecting.get(namespace) ?? []), config]);
      continue;
    }
    const older = general.get(namespace);
    if (older === undefined) general.set(namespace, config);
    else diagnostics.push(shadowed(config, older));
  }
  const meshPolicy = general.get(rootNamespace);
  const meshMode = meshPolicy === undefined ? undefined : (modeOf(meshPolicy.spec.mtls) ?? "PERMISSIVE");
  const closingOf = (namespace: string) => closing.get(namespace) ?? closing.get(rootNamespace);
  const namespaceMode = (namespace: string): MutualTlsMode | undefined => {
    if (closingOf(namespace) !== undefined) return "STRICT";
    const policy = namespace === rootNamespace ? undefined : general.get(namespace);
    return policy === undefined ? meshMode : (modeOf(policy.spec.mtls) ?? meshMode ?? "PERMISSIVE");
  };
  const workloadPolicy = (namespace: string, labels: Labels): Config<PeerAuthentication> | undefined =>
    closingOf(namespace) ?? selecting.get(namespace)?.find((config) => isSubset(selectorOf(config), labels));
  return {
    value: {
      namespaceMode,
      serviceMode: (service) => namespaceMode(service.attributes.namespace),
      workloadPolicy,
      workloadMode: (namespace, labels, port) =>
        workloadModeOf(workloadPolicy(namespace, labels), namespaceMode(namespace), port),
      servedModes: ({ namespace, labels }) => ({
        policy: workloadPolicy(namespace, labels),
        general: namespaceMode(namespace),
      }),
    },
    diagnostics,
  };
}

/** Mode on one port, from the policy that selects the workload and the mode of its namespace. */
export function workloadModeOf(
  policy: Config<PeerAuthentication> | undefined,
  namespaceMode: MutualTlsMode | undefined,
  port: number,
): MutualTlsMode {
  const whole = modeOf(policy?.spec.mtls) ?? namespaceMode ?? "PERMISSIVE";
  return modeOf(policy?.spec.portLevelMtls?.[String(port)]) ?? whole;
}

const selectorOf = (config: Config<PeerAuthentication>): Labels => config.spec.selector?.matchLabels ?? {};

function modeOf(mtls: MutualTLS | undefined): MutualTlsMode | undefined {
  return mtls?.mode === undefined || mtls.mode === "UNSET" ? undefined : mtls.mode;
}

function shadowed(config: Config, older: Config): Diagnostic {
  return {
    code: "peer-authentication-shadowed",
    severity: "warning",
    origin: config.origin,
    path: [],
    message: `ignored: ${older.meta.namespace}/${older.meta.name} is the oldest PeerAuthentication without selector in its namespace`,
    hint: "keep one per namespace, or give this one a selector",
  };
}

function inRootNamespace(config: Config): Diagnostic {
  return {
    code: "peer-authentication-root-selector",
    severity: "warning",
    origin: config.origin,
    path: ["spec", "selector"],
    message: "a PeerAuthentication with a selector has no effect in the root namespace",
    hint: "move it into the namespace of the workloads",
  };
}
