import type { Labels } from "../../config/values/labels.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Service } from "../../registry/service.ts";
import type { DestinationContext } from "./actions/destination-cluster.ts";
import type { RedirectContext } from "./actions/redirect.ts";
import type { TableSettings } from "./table-context.ts";

/** The table that routes of a VirtualService are generated for. Reads are tracked: only what was read can change the routes. */
export interface RouteScope extends DestinationContext, RedirectContext {
  /** `mesh` at sidecars, `namespace/name` of the gateway at gateways. */
  readonly gateway: string;
  /** A label of the proxy, and its namespace, for matches on the source. */
  sourceLabel(key: string): string | undefined;
  readonly sourceNamespace: string;
  /** The rule that says how requests to a host are hashed; undefined: they are not. */
  hashRule(host: string): MeshDestinationRule | undefined;
}

/** What routes depend on beside the VirtualService. */
export interface RouteContext {
  readonly routeScope: RouteScope;
  readonly settings: TableSettings;
  /** What `routeScope` says of the hosts of destinations and mirrors, as far as it names a rule. */
  readonly hashRules: ReadonlyMap<string, MeshDestinationRule>;
}

/** Who sends the requests. */
export const sourceOf = (
  sourceNamespace: string,
  labels: Labels,
): Pick<RouteScope, "sourceLabel" | "sourceNamespace"> => ({ sourceNamespace, sourceLabel: (key) => labels[key] });

/** The port of a service that has one only. */
export function onlyPortOf(service: Pick<Service, "ports"> | undefined): number | undefined {
  return service?.ports.length === 1 ? service.ports[0]?.port : undefined;
}
