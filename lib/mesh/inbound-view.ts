import type { ServiceTarget } from "../registry/service.ts";
import { destinationRuleFor } from "./destination-rule-index.ts";
import type { Mesh, SidecarScope } from "./mesh.ts";
import type { Proxy } from "./proxy.ts";
import type { InboundView } from "./views.ts";

export interface KeyedInboundView {
  readonly view: InboundView;
  /** What clusters read of it. */
  readonly clusterKey: string;
  /** What listeners read of it: mTLS as well. */
  readonly listenerKey: string;
}

/** What a workload serves. Gateways serve nothing of their own this way. */
export function inboundViewOf(
  mesh: Mesh,
  proxy: Proxy,
  scope: SidecarScope,
  targets: readonly ServiceTarget[],
): KeyedInboundView {
  const { namespace, labels } = proxy;
  const policy = mesh.peerAuthentication.workloadPolicy(namespace, labels);
  const ownAddresses = readsOwnAddresses(mesh, scope) ? proxy.addresses : [];
  const view: InboundView = {
    targets: proxy.type === "router" ? [] : targets,
    ingressListeners: scope.ingressListeners,
    destinationRule: (service) =>
      destinationRuleFor(scope.destinationRules.get(service.hostname), "inbound", scope.namespace, labels),
    scope,
    mtlsMode: (port) => mesh.peerAuthentication.workloadMode(namespace, labels, port),
    portLevelPorts: Object.keys(policy?.spec.portLevelMtls ?? {})
      .map(Number)
      .sort((a, b) => a - b),
    ownAddresses,
  };
  const clusterKey = `${view.targets.map(targetKey).join(",")}@${ownAddresses.join(",")}`;
  const policyName = policy === undefined ? "" : `${policy.meta.namespace}/${policy.meta.name}`;
  return { view, clusterKey, listenerKey: `${clusterKey}@${policyName}` };
}

/** The order of the targets is their age, which decides between services on one port. */
function targetKey({ service, servicePort, targetPort }: ServiceTarget): string {
  return `${service.attributes.namespace}/${service.hostname}:${servicePort.port}:${targetPort}`;
}

/** A Sidecar ingress listener without bind carries the proxy's own address in names; one to `0.0.0.0` sends there. */
function readsOwnAddresses(mesh: Mesh, scope: SidecarScope): boolean {
  return scope.ingressListeners.some(
    ({ bind, defaultEndpoint = "" }) =>
      (mesh.compat === "istio" && (bind === undefined || bind === "")) || /^(0\.0\.0\.0|\[::\]):/.test(defaultEndpoint),
  );
}
