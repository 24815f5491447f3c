import type { ServiceTarget } from "../../registry/service.ts";
import { destinationRuleFor } from "../index/destination-rule-index.ts";
import { workloadModeOf } from "../index/peer-authentication.ts";
import type { ServedWorkload } from "../legacy-policies/served-port.ts";
import type { Mesh, SidecarScope } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { InboundView, ServedView, ServiceScope } from "./views.ts";

/** What a workload serves, and how. */
export interface InboundSelection {
  readonly served: ServedView;
  readonly view: InboundView;
  /** Names what clusters read of it. */
  readonly servedKey: string;
  /** Names what listeners read of it: mutual TLS as well. */
  readonly key: string;
  readonly from: readonly object[];
}

/** Gateways serve nothing of their own this way. */
export function selectInbound(
  mesh: Mesh,
  proxy: Proxy,
  scope: SidecarScope,
  services: ServiceScope,
  workload: ServedWorkload,
): InboundSelection {
  const { labels } = proxy;
  const targets = proxy.type === "router" ? [] : workload.targets;
  const ownAddresses = readsOwnAddresses(mesh, scope) ? proxy.addresses : [];
  const view: ServedView = {
    targets,
    ingressListeners: scope.ingressListeners,
    destinationRule: (service) =>
      destinationRuleFor(services.destinationRules.get(service.hostname), "inbound", services.namespace, labels),
    scope: services,
    ownAddresses,
  };
  const { policy, general } = mesh.peerAuthentication.servedModes(workload);
  const ports = Object.keys(policy?.spec.portLevelMtls ?? {}).map(Number);
  const servedKey = `${targets.map(targetName).join(",")}@${ownAddresses.join(",")}`;
  const policyName = policy === undefined ? "" : `${policy.meta.namespace}/${policy.meta.name}`;
  return {
    served: view,
    view: {
      ...view,
      mtlsMode: (port) => workloadModeOf(policy, general, port),
      portLevelPorts: ports.sort((a, b) => a - b),
    },
    servedKey,
    key: `${servedKey}@${policyName}@${general ?? ""}`,
    from: [...targets.map((target) => target.service), ...(policy === undefined ? [] : [policy])],
  };
}

/** The order of the targets is their age, which decides between services on one port. */
function targetName({ service, servicePort, targetPort }: ServiceTarget): string {
  return `${service.attributes.namespace}/${service.hostname}:${servicePort.port}:${targetPort}`;
}

/** A Sidecar ingress listener without bind carries the proxy's own address in names; one to `0.0.0.0` sends there. */
function readsOwnAddresses(mesh: Mesh, scope: SidecarScope): boolean {
  return scope.ingressListeners.some(
    ({ bind, defaultEndpoint = "" }) =>
      (mesh.compat === "istio" && (bind === undefined || bind === "")) || /^(0\.0\.0\.0|\[::\]):/.test(defaultEndpoint),
  );
}
