import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { Labels } from "../../config/values/labels.ts";
import { internList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import {
  type MergedGateway,
  mergeGateways,
  type PortTranslation,
  portTranslations,
} from "../gateway/merged-gateway.ts";
import { gatewayLeftOut, gatewaysFor } from "../gateway/workload-gateways.ts";
import type { MeshVirtualService } from "../index/virtual-service-index.ts";
import type { Mesh } from "../mesh.ts";
import { objectNames } from "./object-names.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import { type InputNames, itself, viewKey } from "./view-key.ts";
import type { GatewayRouteView, View } from "./views.ts";

/** The Gateways of a workload and the virtual services bound to them. */
export interface GatewaySelection {
  readonly merged: MergedGateway & View;
  readonly view: GatewayRouteView & View;
  /** The lists of virtual services that are read. */
  readonly bound: readonly (readonly MeshVirtualService[])[];
  readonly diagnostics: readonly Diagnostic[];
}

/** @returns undefined when no Gateway applies */
export function selectGateways(
  mesh: Mesh,
  node: ProxyAnswers,
  labels: Labels,
  memo: Memo,
): GatewaySelection | undefined {
  const found = gatewaysFor(mesh.gateways, labels, () => node.targets, mesh.config.rules);
  const gateways = internList(memo, found.gateways);
  if (gateways.length === 0) return undefined;
  const merged = mergedGateway(memo, { gateways, translations: portTranslations(gateways, node.targets) });
  const { namespace } = node;
  const bound = internList(
    memo,
    gateways.map((gateway) => mesh.virtualServices.forGateway(namespace, gatewayName(gateway))),
  );
  const view = gatewayRouteView(memo, { gateways, merged: merged.value, bound, namespace });
  const leftOut = found.leftOut.map((one) => gatewayLeftOut(memo, one));
  const diagnostics = leftOut.length === 0 ? merged.diagnostics : [...leftOut, ...merged.diagnostics];
  return { merged: merged.value, view, bound, diagnostics };
}

interface MergeInputs {
  readonly gateways: readonly Config<Gateway>[];
  readonly translations: readonly PortTranslation[];
}

const mergeNames: InputNames<MergeInputs> = { gateways: objectNames, translations: itself };

const mergedGateway = query(
  "merged gateway",
  { translations: "value" },
  (inputs: MergeInputs, memo: Memo): Stage<MergedGateway & View> => {
    const { value, diagnostics } = mergeGateways(inputs.gateways, inputs.translations, memo);
    return { value: { ...value, key: viewKey(mergeNames, inputs) }, diagnostics };
  },
);

interface RouteInputs {
  readonly gateways: readonly Config<Gateway>[];
  readonly merged: MergedGateway & View;
  /** Of each gateway, as seen from the namespace. */
  readonly bound: readonly (readonly MeshVirtualService[])[];
  readonly namespace: string;
}

const routeNames: InputNames<RouteInputs> = {
  gateways: objectNames,
  merged: ({ key }) => key(),
  // Follow from the gateways and the namespace.
  bound: (lists) => lists.length,
  namespace: itself,
};

const gatewayRouteView = query("gateway route view", (inputs: RouteInputs): GatewayRouteView & View => {
  const { gateways, merged, bound } = inputs;
  const byGateway = new Map(gateways.map((gateway, at) => [gatewayName(gateway), bound[at] ?? []]));
  return { key: viewKey(routeNames, inputs), merged, virtualServices: (name) => byGateway.get(name) ?? [] };
});

const gatewayName = ({ meta }: Config<Gateway>): string => `${meta.namespace}/${meta.name}`;
