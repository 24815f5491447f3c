import { internList, keepList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { serviceKey } from "../../../registry/changes/registry-state.ts";
import type { Endpoint, Service } from "../../../registry/service.ts";
import type { Mesh } from "../../mesh.ts";
import type { EgressListener, SidecarScope } from "../../scope/sidecar-scope.ts";
import type { ListenerLookups, ServiceLookups } from "../views.ts";

const noEndpoints: readonly [] = [];

/** What the listeners of a scope may ask: of endpoints only those of headless services, which have no other address. */
export function listenerLookupsOf(mesh: Mesh, scope: SidecarScope, memo: Memo): ListenerLookups {
  const headless = headlessServices(scope, memo);
  const endpoints = keepList(memo, `headless|${scope.id}`, headless.map(mesh.lookups.endpoints));
  return listenerLookups(memo, { general: mesh.serviceLookups, headless, endpoints });
}

interface LookupInputs {
  readonly general: ServiceLookups;
  readonly headless: readonly Service[];
  readonly endpoints: readonly (readonly Endpoint[])[];
}

const listenerLookups = query("listener lookups", ({ general, headless, endpoints }: LookupInputs): ListenerLookups => {
  const byService = new Map(headless.map((service, at) => [serviceKey(service), endpoints[at] ?? noEndpoints]));
  return { ...general, endpoints: (service) => byService.get(serviceKey(service)) ?? noEndpoints };
});

/** The same list for the same services; one of each, although each listener may have it with other ports. */
export function headlessServices(
  { egressListeners }: Pick<SidecarScope, "egressListeners">,
  memo: Memo,
): readonly Service[] {
  return headlessOf(memo, {
    lists: internList(
      memo,
      egressListeners.map(({ services }) => services),
    ),
  });
}

const headlessOf = query(
  "headless services",
  ({ lists }: { readonly lists: readonly EgressListener["services"][] }) => {
    const headless = lists.flat().filter((service) => service.resolution === "Passthrough");
    return [...new Map(headless.map((service) => [serviceKey(service), service])).values()];
  },
);
