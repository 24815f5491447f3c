import { serviceKey } from "../../registry/registry-state.ts";
import type { Service } from "../../registry/service.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import type { Mesh, SidecarScope } from "../mesh.ts";
import type { ListenerLookups } from "./views.ts";

const noEndpoints: readonly [] = [];

/** What the listeners of a scope may ask: of endpoints only those of headless services, which have no other address. */
export function listenerLookupsOf(mesh: Mesh, scope: SidecarScope, memo: Memo): ListenerLookups {
  const headless = headlessServices(scope, memo);
  const lists = sameList(memo, `headless|${scope.id}`, headless.map(mesh.lookups.endpoints));
  return memo([mesh.serviceLookups, headless, lists], "listener lookups", () => {
    const endpoints = new Map(headless.map((service, at) => [serviceKey(service), lists[at] ?? noEndpoints]));
    return { ...mesh.serviceLookups, endpoints: (service) => endpoints.get(serviceKey(service)) ?? noEndpoints };
  });
}

/** The same list for the same services; one of each, although each listener may have it with other ports. */
export function headlessServices({ egressListeners }: SidecarScope, memo: Memo): readonly Service[] {
  const lists = egressListeners.map(({ services }) => services);
  return memo(lists, "headless", () => {
    const headless = lists.flat().filter((service) => service.resolution === "Passthrough");
    return [...new Map(headless.map((service) => [serviceKey(service), service])).values()];
  });
}
