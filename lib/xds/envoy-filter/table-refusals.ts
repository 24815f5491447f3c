import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { Refusal } from "./leave-out.ts";

/**
 * Why Envoy would refuse a route table as a whole: a domain that is in it twice, in one virtual host or in two, whatever its case.
 * Names of virtual hosts and of routes may repeat.
 *
 * @param name under which the listeners ask for the table
 * @see docs/how-istio-does-it/envoy-filters.md#what-envoy-refuses-whole
 * @see envoy 1.40.0 source/common/router/config_impl.cc
 */
export function tableRefusals(name: string | undefined, table: RouteConfigurationJson): readonly Refusal[] {
  const refusals: Refusal[] = [];
  if ((table.name ?? "") !== (name ?? "")) {
    refusals.push({ reason: "it would have another name than the listeners ask for", hint: "leave the name out" });
  }
  const seen = new Set<string>();
  for (const host of table.virtualHosts ?? []) {
    for (const written of host.domains ?? []) {
      const domain = written.toLowerCase();
      if (!seen.has(domain)) {
        seen.add(domain);
        continue;
      }
      refusals.push({
        reason: `the domain ${JSON.stringify(domain)} would be in it twice`,
        hint: "a domain belongs to one virtual host of a table, once: patch that host, or remove it in the same EnvoyFilter",
      });
    }
  }
  return refusals;
}
