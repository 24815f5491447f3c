import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { GatewayClass } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import { internList, internValue } from "../../incremental/keep-identity.ts";
import { lazily } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { RegistryState } from "../../registry/changes/registry-state.ts";
import { serviceKey } from "../../registry/changes/registry-state.ts";
import type { Endpoint } from "../../registry/service.ts";
import type { ServiceIndex } from "../index/service-index.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { policyStatus } from "./backends/policy-status.ts";
import { ownerOf } from "./classes.ts";
import { conditions } from "./conditions.ts";
import type { ConvertedParts } from "./convert.ts";
import {
  gatewayStatus,
  listenerSetStatus,
  remoteGatewayStatus,
  remoteListenerSetStatus,
  type StatusSource,
} from "./gateway-status.ts";
import { gatewayNameOf } from "./made-objects.ts";
import { generationOf, type ObjectStatus, objectStatus } from "./object-status.ts";
import type { MadeRoute } from "./routes/route.ts";
import { routeStatus } from "./routes/route-status.ts";

interface StatusInputs {
  readonly parts: ConvertedParts;
  readonly settings: GatewayApiSettings;
  readonly services: ServiceIndex;
  readonly endpoints: RegistryState["endpoints"];
  readonly rules: ReleaseRules;
}

/** The status of every object that we answer for, by kind, namespace and name. */
export function gatewayApiStatuses(
  { parts, settings, services, endpoints, rules }: StatusInputs,
  memo: Memo,
): readonly ObjectStatus[] {
  const { controllerName } = settings;
  const source = statusSource(parts, services, endpoints, memo);
  const { reportsListenersOnGateways: reportsListeners } = rules;
  const allowed = parts.listenerSets.filter(
    ({ isAllowed, listeners }) => isAllowed && listeners.some(({ isAttachable }) => isAttachable),
  );
  return [
    ...parts.classes
      .filter(({ spec }) => ownerOf(spec, settings) !== undefined)
      .map((config) => classStatus(memo, { config })),
    ...parts.gateways.map((made) => {
      const listenerSets = internList(
        memo,
        allowed.filter(({ gateway }) => gateway === made),
      );
      return gatewayStatus(memo, { made, listenerSets, reportsListeners }, source).value;
    }),
    ...parts.remoteGateways.map((config) => remoteGatewayStatus(memo, { config })),
    ...parts.listenerSets.map((made) => listenerSetStatus(memo, { made, reportsListeners }, source).value),
    ...parts.remoteListenerSets.map((inputs) => remoteListenerSetStatus(memo, inputs)),
    ...parts.routes.map((made) => routeStatus(memo, { made, controllerName })),
    ...parts.policies.map((made) => policyStatus(memo, { made, controllerName })),
  ].sort(byKey);
}

function byKey({ key: a }: ObjectStatus, { key: b }: ObjectStatus): number {
  return byCodePoint(a.kind, b.kind) || byCodePoint(a.namespace, b.namespace) || byCodePoint(a.name, b.name);
}

const classStatus = query(
  "status of a class of the Gateway API",
  ({ config }: { readonly config: Config<GatewayClass> }): ObjectStatus =>
    objectStatus(config, {
      conditions: conditions(generationOf(config), {
        Accepted: { reason: "Accepted", message: "Handled by Istio controller" },
      }),
    }),
);

function statusSource(
  parts: ConvertedParts,
  services: ServiceIndex,
  endpoints: RegistryState["endpoints"],
  memo: Memo,
): StatusSource {
  const attached = lazily(() => attachedRoutes(parts.routes));
  return {
    service: (hostname, namespace) => services.byHostname.get(hostname)?.get(namespace),
    namespacesWith: (hostname) => internValue(memo, [...(services.byHostname.get(hostname)?.keys() ?? [])].sort()),
    endpoints: (service) => endpoints.get(serviceKey(service)) ?? noEndpoints,
    attachedRoutes: (namespace, name, listener) =>
      attached().get(`${namespace}/${gatewayNameOf(name, listener)}`)?.size ?? 0,
  };
}

const noEndpoints: readonly Endpoint[] = [];

/** Name of a listener as a parent → the routes there, each once. */
function attachedRoutes(routes: readonly MadeRoute[]): ReadonlyMap<string, ReadonlySet<MadeRoute>> {
  const found = new Map<string, Set<MadeRoute>>();
  for (const made of routes) {
    for (const { kind, parent, denial } of made.parents) {
      if (denial !== undefined || (kind !== "Gateway" && kind !== "ListenerSet")) continue;
      const known = found.get(parent.name);
      if (known === undefined) found.set(parent.name, new Set([made]));
      else known.add(made);
    }
  }
  return found;
}
