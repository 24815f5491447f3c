import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/values/labels.ts";
import { appOf, canonicalLabels, canonicalName } from "./canonical-service.ts";

/** Whose node it is. */
export interface NodeOwner {
  readonly namespace: string;
  /** "" when unknown. */
  readonly workloadName: string;
  readonly labels: Labels;
}

/** Service cluster of a ProxyConfig that names none of its own. */
const anyProxy = "istio-proxy";

/**
 * `node.cluster` as Istio's agent writes it: what the settings name, else the application, else the workload, with its
 * namespace. Tracers and dashboards know proxies by it.
 *
 * @see istio 1.30.3 pkg/bootstrap/config.go, getServiceCluster
 */
export function nodeClusterOf(settings: ProxyConfig, owner: NodeOwner): string {
  const { serviceCluster, tracingServiceName } = settings;
  const { namespace, labels } = owner;
  const canonical = () => canonicalLabels(labels, owner.workloadName || anyProxy)[canonicalName];
  if (tracingServiceName === "CANONICAL_NAME_AND_NAMESPACE" && namespace !== "") return `${canonical()}.${namespace}`;
  const named = tracingServiceName?.startsWith("CANONICAL_NAME") ? canonical() : (serviceCluster ?? "");
  if (named !== "" && named !== anyProxy) return named;
  const app = appOf(labels) ?? (owner.workloadName || undefined);
  if (app !== undefined) return `${app}.${namespace}`;
  return namespace === "" ? anyProxy : `${anyProxy}.${namespace}`;
}
