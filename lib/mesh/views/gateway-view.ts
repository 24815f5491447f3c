import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { ServiceTarget } from "../../registry/service.ts";
import { gatewaysFor, mergeGateways } from "../gateway/merged-gateway.ts";
import { fingerprint } from "../memo/fingerprint.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import type { MergedGateway, Mesh, MeshVirtualService } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { GatewayRouteView } from "./views.ts";

/** The Gateways of a workload and the virtual services bound to them. */
export interface GatewaySelection {
  readonly merged: MergedGateway;
  readonly view: GatewayRouteView;
  /** Names the Gateways and how their ports translate. */
  readonly key: string;
  readonly from: readonly object[];
  /** What routes and listeners hold: the virtual services as well. */
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
  const found = gatewaysFor(mesh.gateways, proxy.labels);
  if (found.length === 0) return undefined;
  const key = fingerprint([...found.map(gatewayName), ...targets.map(portTranslation)].join(","));
  // One object stands for them all: there may be thousands.
  const gateways = sameList(memo, `gateways|${key}`, found);
  const merged = memo([gateways], `merged gateway|${key}`, () => mergeGateways(gateways, targets));
  const { namespace } = proxy;
  const lists = memo([mesh.virtualServices, gateways], `bound|${namespace}`, () =>
    gateways.map((gateway) => mesh.virtualServices.forGateway(namespace, gatewayName(gateway))),
  );
  const bound = sameList(memo, `bound|${namespace}|${key}`, lists);
  const view = memo([merged, bound], "gateway route view", (): GatewayRouteView => {
    const byGateway = new Map(gateways.map((gateway, at) => [gatewayName(gateway), bound[at] ?? []]));
    return { merged: merged.value, virtualServices: (name) => byGateway.get(name) ?? [] };
  });
  return {
    merged: merged.value,
    view,
    key,
    from: [merged],
    routeFrom: [view],
    bound,
    diagnostics: merged.diagnostics,
  };
}

const gatewayName = ({ meta }: Config<Gateway>): string => `${meta.namespace}/${meta.name}`;

const portTranslation = ({ service, servicePort, targetPort }: ServiceTarget): string =>
  `${service.hostname}:${servicePort.port}:${targetPort}`;
