import type { Diagnostic } from "../config/diagnostic.ts";
import type { ServiceTarget } from "../registry/service.ts";
import type { Memo } from "./memo.ts";
import { gatewaysFor, mergeGateways } from "./merged-gateway.ts";
import type { Mesh } from "./mesh.ts";
import type { Proxy } from "./proxy.ts";
import type { GatewayRouteView } from "./views.ts";

export interface SelectedGateway {
  readonly view: GatewayRouteView;
  /** Names the Gateways and how their ports translate. */
  readonly key: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The Gateways of a gateway workload, merged; undefined when none applies. */
export function gatewayViewOf(
  mesh: Mesh,
  proxy: Proxy,
  targets: readonly ServiceTarget[],
  memo: Memo,
): SelectedGateway | undefined {
  const gateways = gatewaysFor(mesh.gateways, proxy.labels);
  if (gateways.length === 0) return undefined;
  const names = gateways.map(({ meta }) => `${meta.namespace}/${meta.name}`).join(",");
  const ports = targets.map(({ servicePort, targetPort }) => `${servicePort.port}:${targetPort}`).join(",");
  const merged = memo(gateways, `merged gateway|${ports}`, () => mergeGateways(gateways, targets));
  const { namespace } = proxy;
  return {
    key: `${names}@${ports}`,
    view: {
      merged: merged.value,
      virtualServices: (gatewayName) => mesh.virtualServices.forGateway(namespace, gatewayName),
    },
    diagnostics: merged.diagnostics,
  };
}
