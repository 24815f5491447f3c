import type { Config } from "../../../config/config.ts";
import type { PeerAuthentication } from "../../../config/kinds/peer-authentication.ts";
import type { IstioIngressListener } from "../../../config/kinds/sidecar.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { ServiceTarget } from "../../../registry/service.ts";
import { destinationRuleFor } from "../../index/destination-rule-index.ts";
import { workloadModeOf } from "../../index/peer-authentication.ts";
import type { ServedWorkload } from "../../index/policy-attachment.ts";
import type { Mesh } from "../../mesh.ts";
import { objectName } from "../object-names.ts";
import type { ProxyAnswers } from "../proxies/proxy-answers.ts";
import { type InputNames, itself, viewKey } from "../view-key.ts";
import type { InboundView, MutualTlsMode, ServedView, ServiceScope, View } from "../views.ts";

/** What a workload serves, and how; each with a key. */
export interface InboundSelection {
  readonly served: ServedView & View;
  readonly view: InboundView & View;
}

/** Gateways serve nothing of their own this way. */
export function selectInbound(
  mesh: Pick<Mesh, "form" | "peerAuthentication">,
  node: ProxyAnswers,
  scope: ServiceScope,
  workload: ServedWorkload,
  memo: Memo,
): InboundSelection {
  const served = servedView(memo, {
    targets: node.type === "router" ? noTargets : node.targets,
    ingressListeners: scope.ingressListeners,
    scope,
    ownAddresses: readsOwnAddresses(mesh, node, scope) ? node.addresses : [],
  });
  return { served, view: inboundView(memo, { served, ...mesh.peerAuthentication.servedModes(workload) }) };
}

const noTargets: readonly [] = [];

interface ServedInputs {
  readonly targets: readonly ServiceTarget[];
  readonly ingressListeners: readonly IstioIngressListener[];
  readonly scope: ServiceScope;
  readonly ownAddresses: readonly string[];
}

const servedNames: InputNames<ServedInputs> = {
  // Their order is their age, which decides between services on one port.
  targets: (targets) =>
    targets.map(({ service, servicePort, targetPort }) => [
      service.attributes.namespace,
      service.hostname,
      servicePort.port,
      targetPort,
    ]),
  ingressListeners: (listeners) => listeners.length,
  scope: ({ id }) => id,
  ownAddresses: itself,
};

const servedView = query("served view", { ownAddresses: "value" }, (inputs: ServedInputs): ServedView & View => {
  const { scope } = inputs;
  return {
    ...inputs,
    key: viewKey(servedNames, inputs),
    destinationRule: (service) =>
      destinationRuleFor(scope.destinationRules.get(service.hostname), "inbound", scope.namespace, {}),
  };
});

interface InboundInputs {
  readonly served: ServedView & View;
  readonly policy: Config<PeerAuthentication> | undefined;
  readonly general: MutualTlsMode | undefined;
}

const inboundNames: InputNames<InboundInputs> = {
  served: ({ key }) => key(),
  policy: (policy) => policy && objectName(policy),
  general: itself,
};

const inboundView = query("inbound view", (inputs: InboundInputs): InboundView & View => {
  const { served, policy, general } = inputs;
  const ports = Object.keys(policy?.spec.portLevelMtls ?? {}).map(Number);
  return {
    ...served,
    key: viewKey(inboundNames, inputs),
    mtlsMode: (port) => workloadModeOf(policy, general, port),
    portLevelPorts: ports.sort((a, b) => a - b),
  };
});

/**
 * A Sidecar ingress listener without bind takes its names from the proxy's own address, and listens there where traffic is
 * not captured; one to `0.0.0.0` sends there.
 */
function readsOwnAddresses(mesh: Pick<Mesh, "form">, node: ProxyAnswers, scope: ServiceScope): boolean {
  return scope.ingressListeners.some((listener) => {
    const { bind = "", defaultEndpoint = "" } = listener;
    const isNamed = mesh.form.ownAddressInIngressNames || ingressBinds(listener, node.interceptionMode);
    return (bind === "" && isNamed) || /^(0\.0\.0\.0|\[::\]):/.test(defaultEndpoint);
  });
}

/** Whether a Sidecar ingress listener listens by itself, because nothing captures what comes for it. */
export function ingressBinds(
  { captureMode = "DEFAULT" }: IstioIngressListener,
  interceptionMode: ProxyAnswers["interceptionMode"],
): boolean {
  return captureMode === "DEFAULT" ? interceptionMode === "NONE" : captureMode === "NONE";
}
