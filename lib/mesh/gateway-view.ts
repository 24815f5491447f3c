import type { Diagnostic } from "../config/diagnostic.ts";
import type { ServiceTarget } from "../registry/service.ts";
import type { Memo } from "./memo.ts";
import { gatewaysFor, mergeGateways } from "./merged-gateway.ts";
import type { MergedGateway, Mesh, MeshVirtualService } from "./mesh.ts";
import type { Proxy } from "./proxy.ts";
import type { GatewayRouteView } from "./views.ts";

/** The Gateways of a workload and the virtual services bound to them. */
export interface GatewaySelection {
  readonly merged: MergedGateway;
  readonly view: GatewayRouteView;
  /** Names the Gateways and how their ports translate. */
  readonly key: string;
  readonly from: readonly object[];
  /** What routes and listeners select besides: the virtual services, by the gateway that they are bound to. */
  readonly routeKey: string;
  readonly routeFrom: readonly object[];
  /** The lists of virtual services that are read. */
  readonly bound: readonly (readonly MeshVirtualService[])[];
  readonly diagnostics: readonly Diagnostic[];
}

/** @returns undefined when no Gateway applies */
export function selectGateways(
  mesh: Mesh,
  proxy: Proxy,
  targets: readonly ServiceTarget[],
  memo: Memo,
): GatewaySelection | undefined {
  const gateways = gatewaysFor(mesh.gateways, proxy.labels);
  if (gateways.length === 0) return undefined;
  const names = gateways.map(({ meta }) => `${meta.namespace}/${meta.name}`);
  const ports = targets.map(
    ({ service, servicePort, targetPort }) => `${service.hostname}:${servicePort.port}:${targetPort}`,
  );
  const merged = memo(gateways, `merged gateway|${ports.join(",")}`, () => mergeGateways(gateways, targets));
  const lists = new Map(names.map((name) => [name, mesh.virtualServices.forGateway(proxy.namespace, name)]));
  const key = `${names.join(",")}@${ports.join(",")}`;
  return {
    merged: merged.value,
    view: { merged: merged.value, virtualServices: (gatewayName) => lists.get(gatewayName) ?? [] },
    key,
    from: [merged],
    routeKey: key,
    routeFrom: [merged, ...lists.values()],
    bound: [...lists.values()],
    diagnostics: merged.diagnostics,
  };
}
