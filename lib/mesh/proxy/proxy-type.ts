import type { Config } from "../../config/config.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { isIpAddress } from "../../config/values/ip-address.ts";
import { isNonEmptySubset } from "../../config/values/labels.ts";
import { tlsModeLabel } from "../../registry/labels.ts";
import type { Workload } from "../../registry/service.ts";
import { groupAnnotation } from "../../registry/service-entry/workload.ts";
import type { SelectedWorkloads } from "../gateway-api/gateway-workloads.ts";
import { ingressGatewayLabel } from "../index/ingress.ts";
import { isInjected, proxyTypeOf } from "./container-start.ts";
import type { ProxyStart } from "./proxy-start.ts";
import { isProxyless, templatesOf } from "./proxyless.ts";

/** Annotation that injection leaves on a pod. */
const injectedAnnotation = "sidecar.istio.io/status";

/** What decides which workloads are gateways. */
export interface GatewaySelection {
  readonly gateways: readonly Config<Gateway>[];
  /** Whether there is an Ingress: the ingress gateway serves it. */
  readonly hasIngresses: boolean;
  /** Workloads behind the services of Gateways of the Gateway API. */
  readonly workloads: readonly SelectedWorkloads[];
  readonly meshConfig: MeshConfig;
}

/** The sort of proxy that a workload has; undefined for none. */
export type ProxyTypes = (workload: Workload) => ProxyStart["type"] | undefined;

/**
 * Says which sort of proxy a workload has. A pod's container says it itself. Where there is none, whatever some Gateway or the Ingresses
 * select, or backs the service of a Gateway of the Gateway API, is a gateway; so is a pod that the gateway template is for.
 */
export function proxyTypes(selection: GatewaySelection): ProxyTypes {
  const selectors = selection.gateways.filter(isIstios).map(({ spec }) => spec.selector);
  if (selection.hasIngresses) selectors.push({ istio: ingressGatewayLabel(selection.meshConfig) });
  return (workload) => {
    const { addresses, namespace, labels, pod } = workload;
    if (addresses.length === 0) return undefined;
    if (pod?.proxyContainer !== undefined && isInjected(pod.proxyContainer)) return proxyTypeOf(pod.proxyContainer);
    if (isProxyless(workload)) return hasProxy(workload) ? "sidecar" : undefined;
    const isSelected =
      selectors.some((selector) => isNonEmptySubset(selector, labels)) ||
      selection.workloads.some((of) => of.namespace === namespace && isNonEmptySubset(of.selector, labels));
    // Nothing but a proxy can serve a Gateway.
    if (isSelected && !saysNone(workload)) return "router";
    if (!hasProxy(workload)) return undefined;
    return isSelected || templatesOf(workload).includes("gateway") ? "router" : "sidecar";
  };
}

/** Gateway API has a kind of the same name. */
const isIstios = ({ meta }: Config): boolean => meta.group === "networking.istio.io";

/** Whether a workload says that there is no proxy for others to reach: a machine does it by a label, a template by how it is injected. */
function saysNone({ kind, labels, addresses, pod }: Workload): boolean {
  if (pod?.injection !== undefined) return pod.injection === "no";
  return kind === "WorkloadEntry" && (labels[tlsModeLabel] !== undefined || !addresses.every(isIpAddress));
}

/** Whether somebody says that a workload has a proxy, or its pods will have one; a machine with an account takes mutual TLS, so that it has one. */
function hasProxy(workload: Workload): boolean {
  const { kind, addresses, labels, annotations, serviceAccount, pod } = workload;
  if (pod?.injection !== undefined) return pod.injection !== "no";
  // A program needs nothing beside it to speak xDS, so that asking for it is enough.
  if (isProxyless(workload)) return true;
  if (labels[tlsModeLabel] === "istio" || annotations[injectedAnnotation] !== undefined) return true;
  // Somebody wrote it for injection to fill in.
  if (pod?.proxyContainer !== undefined) return true;
  if (kind !== "WorkloadEntry" || labels[tlsModeLabel] !== undefined || !addresses.every(isIpAddress)) return false;
  return serviceAccount !== "" || annotations[groupAnnotation] !== undefined;
}
