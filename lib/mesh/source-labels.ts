import type { VirtualService } from "../config/kinds/virtual-service.ts";
import type { GatewaySelection } from "./gateway-view.ts";
import type { Labels } from "./label-selector.ts";
import type { Memo } from "./memo.ts";
import type { MeshVirtualService, SidecarScope } from "./mesh.ts";

/** The proxy's labels that some match of a virtual service in scope asks for. */
export function sourceLabelsOf(
  scope: SidecarScope,
  gateway: GatewaySelection | undefined,
  labels: Labels,
  memo: Memo,
): Labels {
  const lists = [...scope.egressListeners.map((listener) => listener.virtualServices), ...(gateway?.bound ?? [])];
  const keys = new Set<string>();
  for (const list of new Set(lists)) for (const key of sourceLabelKeys(list, memo)) keys.add(key);
  return Object.fromEntries(
    [...keys].sort().flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** Label keys in `sourceLabels` of any match of these virtual services. */
export function sourceLabelKeys(virtualServices: readonly MeshVirtualService[], memo: Memo): readonly string[] {
  return memo([virtualServices], "source labels", () => [
    ...new Set(virtualServices.flatMap(({ config }) => memo([config], "source labels", () => keysOf(config.spec)))),
  ]);
}

function keysOf({ http = [], tls = [], tcp = [] }: VirtualService): readonly string[] {
  const matches = [...http, ...tls, ...tcp].flatMap(
    (route): readonly { readonly sourceLabels?: Labels }[] => route.match ?? [],
  );
  return matches.flatMap((match) => Object.keys(match.sourceLabels ?? {}));
}
