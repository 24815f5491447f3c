import type { Config } from "../config/config.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { ingressGatewayLabel } from "../mesh/ingress.ts";
import type { NamedProxy } from "../mesh/proxy-from-node.ts";
import type { Workload } from "../registry/service.ts";

/** Label by which sidecar injection and gateway templates mark a pod that runs a proxy which takes mTLS. */
const tlsModeLabel = "security.istio.io/tlsMode";
/** Annotation that sidecar injection leaves on a pod. */
const injectedAnnotation = "sidecar.istio.io/status";

/** A workload with a proxy, and what the proxy is to it. */
export interface WorkloadProxy {
  readonly workload: Workload;
  readonly type: NamedProxy["type"];
}

/**
 * The proxies that a world is compiled for: one for each workload that says it has one. A pod that some Gateway or the
 * Ingresses select is a gateway; every other one is a sidecar.
 *
 * @returns in the order of the workloads
 */
export function proxiesOf(
  workloads: readonly Workload[],
  configs: readonly Config[],
  meshConfig: MeshConfig,
): readonly WorkloadProxy[] {
  const selectors = configs
    .filter(isGateway)
    .flatMap(({ spec }) => (spec.selector === undefined ? [] : [spec.selector]));
  if (configs.some(({ meta }) => meta.kind === "Ingress")) selectors.push({ istio: ingressGatewayLabel(meshConfig) });
  return workloads.filter(hasProxy).map((workload) => ({
    workload,
    type: selectors.some((selector) => selects(selector, workload.labels)) ? "router" : "sidecar",
  }));
}

/** The node that the proxy of a workload would send. */
export function nodeOfWorkload({ workload, type }: WorkloadProxy): NamedProxy {
  return {
    name: workload.name,
    namespace: workload.namespace,
    type,
    ip: workload.addresses,
    labels: workload.labels,
    serviceAccount: workload.serviceAccount,
    clusterId: workload.clusterId,
    ...(workload.network === "" ? {} : { network: workload.network }),
    ...(workload.locality === "" ? {} : { locality: workload.locality }),
    ...(workload.nodeName === "" ? {} : { metadata: { NODE_NAME: workload.nodeName } }),
  };
}

function hasProxy({ addresses, labels, annotations }: Workload): boolean {
  return addresses.length > 0 && (labels[tlsModeLabel] === "istio" || annotations[injectedAnnotation] !== undefined);
}

function isGateway(config: Config): config is Config<Gateway> {
  return config.meta.kind === "Gateway" && config.meta.group === "networking.istio.io";
}

/** An empty selector would make a gateway of every pod; Istio means "any gateway" by it. */
function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
