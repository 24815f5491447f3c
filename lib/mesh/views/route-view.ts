import { query } from "../../incremental/query.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { patchNames } from "./patch-selection.ts";
import type { RuleSelection } from "./rule-selection.ts";
import { type InputNames, itself, sameForAll, viewKey } from "./view-key.ts";
import type { ClassProxy, EnvoyFilterPatches, GatewayRouteView, RouteView, ServiceLookups, View } from "./views.ts";

interface RouteInputs {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly lookups: ServiceLookups;
  readonly scope: SidecarScope;
  readonly sourceLabels: Readonly<Record<string, string>>;
  readonly patches: EnvoyFilterPatches;
  readonly gateway: (GatewayRouteView & View) | undefined;
  readonly httpProxyPort: number;
}

const routeNames: InputNames<RouteInputs> = {
  proxy: itself,
  rules: ({ names }) => names,
  lookups: sameForAll,
  scope: ({ id }) => id,
  sourceLabels: itself,
  patches: patchNames,
  gateway: (gateway) => gateway?.key(),
  httpProxyPort: itself,
};

export const routeView = query("route view", (inputs: RouteInputs): RouteView => {
  const { rules, patches, ...fields } = inputs;
  return {
    ...fields,
    key: viewKey(routeNames, inputs),
    destinationRule: rules.destinationRule,
    envoyFilters: patches,
  };
});
