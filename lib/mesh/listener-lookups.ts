import type { Service } from "../registry/service.ts";
import { sameList } from "./identity.ts";
import type { Memo } from "./memo.ts";
import type { Mesh, SidecarScope } from "./mesh.ts";
import type { ListenerLookups } from "./views.ts";

const noEndpoints: readonly [] = [];

/** What the listeners of a scope may ask: of endpoints only those of headless services, which have no other address. */
export function listenerLookupsOf(mesh: Mesh, scope: SidecarScope, memo: Memo): ListenerLookups {
  const headless = headlessServices(scope, memo);
  const lists = sameList(memo, `headless|${scope.id}`, headless.map(mesh.lookups.endpoints));
  return memo([mesh.serviceLookups, headless, lists], "listener lookups", () => {
    const endpoints = new Map(headless.map((service, at) => [service, lists[at] ?? noEndpoints]));
    return { ...mesh.serviceLookups, endpoints: (service) => endpoints.get(service) ?? noEndpoints };
  });
}

/** The same list for the same services. */
export function headlessServices(scope: SidecarScope, memo: Memo): readonly Service[] {
  return memo([scope.services], "headless", () =>
    scope.services.filter((service) => service.resolution === "Passthrough"),
  );
}
