import type { Config } from "../../config/config.ts";
import { isIpAddress } from "../../config/ip-address.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { isNonEmptySubset } from "../../config/labels.ts";
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
 * Says which sort of proxy a workload has. A pod's container says it itself. Where there is none, a pod
 * that the gateway template is for, that some Gateway or the Ingresses select, or that backs the service of a Gateway of the
 * Gateway API, is a gateway.
 */
export function proxyTypes(selection: GatewaySelection): ProxyTypes {
  const selectors = selection.gateways.filter(isIstios).map(({ spec }) => spec.selector);
  if (selection.hasIngresses) selectors.push({ istio: ingressGatewayLabel(selection.meshConfig) });
  return (workload) => {
    const { addresses, namespace, labels, pod } = workload;
    if (addresses.length === 0) return undefined;
    if (pod?.proxyContainer !== undefined && isInjected(pod.proxyContainer)) return proxyTypeOf(pod.proxyContainer);
    if (!hasProxy(workload)) return undefined;
    if (isProxyless(workload)) return "sidecar";
    const isGateway =
      templatesOf(workload).includes("gateway") ||
      selectors.some((selector) => isNonEmptySubset(selector, labels)) ||
      selection.workloads.some((of) => of.namespace === namespace && isNonEmptySubset(of.selector, labels));
    return isGateway ? "router" : "sidecar";
  };
}

/** Gateway API has a kind of the same name. */
const isIstios = ({ meta }: Config): boolean => meta.group === "networking.istio.io";

/** Whether somebody says that a workload has a proxy, or its pods will have one; a machine with an account takes mutual TLS, so that it has one. */
function hasProxy(workload: Workload): boolean {
  const { kind, addresses, labels, annotations, serviceAccount, pod } = workload;
  if (pod?.injection !== undefined) return pod.injection !== "no";
  // A program needs nothing beside it to speak xDS, so that asking for it is enough.
  if (isProxyless(workload)) return true;
  if (labels[tlsModeLabel] === "istio" || annotations[injectedAnnotation] !== undefined) return true;
  if (kind !== "WorkloadEntry" || labels[tlsModeLabel] !== undefined || !addresses.every(isIpAddress)) return false;
  return serviceAccount !== "" || annotations[groupAnnotation] !== undefined;
}
