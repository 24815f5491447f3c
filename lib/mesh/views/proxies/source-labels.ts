import type { Labels } from "../../../config/values/labels.ts";
import { internValue } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { MeshVirtualService } from "../../index/virtual-service-index.ts";
import type { SidecarScope } from "../../scope/sidecar-scope.ts";
import type { GatewaySelection } from "../gateway-view.ts";

/** Lists that are read again for each class rather than remembered. */
const fewServices = 4;

/** The proxy's labels that some match of a virtual service in scope asks for. */
export function sourceLabelsOf(
  scope: SidecarScope,
  gateway: GatewaySelection | undefined,
  labels: Labels,
  memo: Memo,
): Labels {
  const lists = new Set([
    ...scope.egressListeners.map((listener) => listener.virtualServices),
    ...(gateway?.bound ?? []),
  ]);
  const keys = new Set(
    [...lists].flatMap((virtualServices) => {
      // Each of a thousand Gateways has a list of its own, mostly of one: to remember those costs more than to read them.
      return virtualServices.length <= fewServices
        ? keysOf(virtualServices)
        : sourceLabelKeys(memo, { virtualServices });
    }),
  );
  return internValue(
    memo,
    Object.fromEntries(
      [...keys].sort().flatMap((key) => {
        const value = labels[key];
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
  );
}

/** Label keys in `sourceLabels` of any match of these virtual services. */
const sourceLabelKeys = query(
  "source label keys",
  ({ virtualServices }: { readonly virtualServices: readonly MeshVirtualService[] }) => keysOf(virtualServices),
);

function keysOf(virtualServices: readonly MeshVirtualService[]): readonly string[] {
  const keys = new Set<string>();
  const addAll = (routes: readonly Matching[] = []): void => {
    for (const { match = [] } of routes) {
      for (const { sourceLabels } of match) {
        if (sourceLabels !== undefined) for (const key of Object.keys(sourceLabels)) keys.add(key);
      }
    }
  };
  for (const { config } of virtualServices) {
    const { http, tls, tcp } = config.spec;
    addAll(http);
    addAll(tls);
    addAll(tcp);
  }
  return [...keys];
}

/** A route of any protocol. */
interface Matching {
  readonly match?: readonly { readonly sourceLabels?: Labels }[];
}
