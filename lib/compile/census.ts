import type { Config } from "../config/config.ts";
import type { Stage } from "../config/diagnostic.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { isNonEmptySubset } from "../config/labels.ts";
import { ingressGatewayLabel } from "../mesh/index/ingress.ts";
import { mapAgain } from "../mesh/memo/identity.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { sameList } from "../mesh/memo/same.ts";
import type { Proxy } from "../mesh/proxy/proxy.ts";
import { type NamedProxy, proxyOf } from "../mesh/proxy/proxy-from-node.ts";
import type { World } from "../mesh/world.ts";
import { tlsModeLabel } from "../registry/labels.ts";
import type { Workload } from "../registry/service.ts";

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
  const typeOf = proxyTypes(configs.filter(isGateway), configs.some(isIngress), meshConfig);
  return workloads.filter(hasProxy).map((workload) => ({ workload, type: typeOf(workload) }));
}

/** The same proxies as generators know them. Workloads that are what they were are not asked again. */
export function censusOf(
  workloads: readonly Workload[],
  { configs, meshConfig, domain }: Pick<World, "configs" | "meshConfig" | "domain">,
  memo: Memo,
): Stage<readonly Proxy[]> {
  const gateways = sameList(memo, "gateways of the census", configs.filter(isGateway));
  const hasIngresses = configs.some(isIngress);
  const typeOf = proxyTypes(gateways, hasIngresses, meshConfig);
  const context = [gateways, hasIngresses, meshConfig];
  const found = mapAgain(memo, `census|${domain}`, workloads, { context, of: () => undefined }, (workload) => {
    if (!hasProxy(workload)) return undefined;
    const type = typeOf(workload);
    return memo([workload, meshConfig], `proxy|${type}|${domain}`, () =>
      proxyOf(nodeOfWorkload({ workload, type }), { workload: () => workload }, meshConfig, domain),
    );
  });
  return memo([found], "census", () => ({
    value: found.flatMap((proxy) => proxy?.value ?? []),
    diagnostics: found.flatMap((proxy) => proxy?.diagnostics ?? []),
  }));
}

function proxyTypes(
  gateways: readonly Config<Gateway>[],
  hasIngresses: boolean,
  meshConfig: MeshConfig,
): (workload: Workload) => WorkloadProxy["type"] {
  const selectors = gateways.flatMap(({ spec }) => (spec.selector === undefined ? [] : [spec.selector]));
  if (hasIngresses) selectors.push({ istio: ingressGatewayLabel(meshConfig) });
  return ({ labels }) => (selectors.some((selector) => isNonEmptySubset(selector, labels)) ? "router" : "sidecar");
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

const isIngress = ({ meta }: Config): boolean => meta.kind === "Ingress";
