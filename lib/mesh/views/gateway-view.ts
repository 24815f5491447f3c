import type { Config } from "../../config/config.ts";
import type { Diagnostic, Stage } from "../../config/diagnostic.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { Labels } from "../../config/labels.ts";
import {
  gatewaysFor,
  type MergedGateway,
  mergeGateways,
  type PortTranslation,
  portTranslations,
} from "../gateway/merged-gateway.ts";
import type { MeshVirtualService } from "../index/virtual-service-index.ts";
import type { Memo } from "../memo/memo.ts";
import { oneList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import type { Mesh } from "../mesh.ts";
import { objectNames } from "./object-names.ts";
import type { ProxyAnswers } from "./proxy-answers.ts";
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
  const gateways = oneList(
    memo,
    gatewaysFor(mesh.gateways, labels, () => node.targets),
  );
  if (gateways.length === 0) return undefined;
  const merged = mergedGateway(memo, { gateways, translations: portTranslations(gateways, node.targets) });
  const { namespace } = node;
  const bound = oneList(
    memo,
    gateways.map((gateway) => mesh.virtualServices.forGateway(namespace, gatewayName(gateway))),
  );
  const view = gatewayRouteView(memo, { gateways, merged: merged.value, bound, namespace });
  return { merged: merged.value, view, bound, diagnostics: merged.diagnostics };
}

interface MergeInputs {
  readonly gateways: readonly Config<Gateway>[];
  readonly translations: readonly PortTranslation[];
}

const mergeNames: InputNames<MergeInputs> = { gateways: objectNames, translations: itself };

const mergedGateway = step(
  "merged gateway",
  { gateways: "identity", translations: "value" },
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

const gatewayRouteView = step(
  "gateway route view",
  { gateways: "identity", merged: "identity", bound: "identity", namespace: "value" },
  (inputs: RouteInputs): GatewayRouteView & View => {
    const { gateways, merged, bound } = inputs;
    const byGateway = new Map(gateways.map((gateway, at) => [gatewayName(gateway), bound[at] ?? []]));
    return { key: viewKey(routeNames, inputs), merged, virtualServices: (name) => byGateway.get(name) ?? [] };
  },
);

const gatewayName = ({ meta }: Config<Gateway>): string => `${meta.namespace}/${meta.name}`;
