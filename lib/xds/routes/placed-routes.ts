import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey } from "../../config/diagnostic.ts";
import type { ConsistentHashLB } from "../../config/kinds/destination-rule.ts";
import type { Destination, HTTPRetry } from "../../config/kinds/virtual-service.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { Service } from "../../registry/service.ts";
import { destinationHash } from "./hash-policy.ts";
import { type RouteContext, virtualServiceRoutes } from "./http-route.ts";
import type { TableContext } from "./table-context.ts";

/** Where routes of a VirtualService are written: the part of a route's context that belongs to the table. */
export interface RoutePlace extends Pick<RouteContext, "port" | "gateway" | "terminatesTls"> {
  /** The service behind a destination, as far as it changes the cluster's name; undefined where it does not. */
  service(hostname: string): Pick<Service, "ports" | "attributes"> | undefined;
}

/** Routes of a VirtualService at one gateway, and the objects that they were made from. */
export interface PlacedRoutes {
  readonly routes: readonly RouteJson[];
  readonly from: readonly ConfigKey[];
}

/**
 * The routes of a VirtualService at one place. They are remembered by the object and by what its destinations mean here,
 * so that a change of another object leaves them, and every virtual host made from them, as they are.
 */
export function placedRoutes(virtualService: MeshVirtualService, place: RoutePlace, table: TableContext): PlacedRoutes {
  const { memo, view } = table;
  const known = memo([virtualService], "routes", () => ({ reads: readsOf(virtualService), variants: [] as Variant[] }));
  const { hosts, labels, readsNamespace } = known.reads;
  const rules: MeshDestinationRule[] = [];
  let key = table.key;
  for (const host of hosts) {
    const service = place.service(host);
    const rule = table.hashRule(host);
    if (rule !== undefined) rules.push(rule);
    key += `|${service === undefined ? "" : destinationText(service)}${rule === undefined ? "" : "#"}`;
  }
  if (readsNamespace) key += `|${view.proxy.namespace}`;
  for (const label of labels) key += `|${JSON.stringify(view.sourceLabels[label] ?? null)}`;
  const variants =
    rules.length === 0 ? known.variants : memo([virtualService, ...rules], "routes with rules", () => [] as Variant[]);
  const alike = variants.filter((variant) => variant.key === key && fits(variant, place));
  const here = alike.find((variant) => variant.gateway === place.gateway);
  if (here !== undefined) return here;
  const [elsewhere] = alike;
  const made =
    elsewhere === undefined
      ? makeVariant(virtualService, { key, rules }, place, table)
      : { ...elsewhere, gateway: place.gateway };
  variants.push(made);
  return made;
}

/** All that a destination's cluster depends on of its service. */
function destinationText({ ports, attributes }: Pick<Service, "ports" | "attributes">): string {
  const onlyPort = ports.length === 1 ? ports[0]?.port : "";
  return `${onlyPort}/${attributes.externalName ?? ""}`;
}

/** Placed routes, and what they depend on beside the object itself. */
interface Variant extends PlacedRoutes {
  readonly gateway: string;
  /** Destinations, source and settings as they were. */
  readonly key: string;
  readonly read: ReadOfPlace;
}

/** What was read of the place that the routes were made for. */
interface ReadOfPlace {
  port?: number;
  gateway?: string;
  terminatesTls?: boolean;
}

/** Most routes read nothing of their place, so that the tables of all ports and gateways share them. */
function fits({ read }: Variant, place: RoutePlace): boolean {
  return (
    (read.port === undefined || read.port === place.port) &&
    (read.gateway === undefined || read.gateway === place.gateway) &&
    (read.terminatesTls === undefined || read.terminatesTls === place.terminatesTls)
  );
}

function makeVariant(
  virtualService: MeshVirtualService,
  { key, rules }: { readonly key: string; readonly rules: readonly MeshDestinationRule[] },
  place: RoutePlace,
  table: TableContext,
): Variant {
  const context = new WatchedContext(place, table);
  const routes = virtualServiceRoutes(virtualService, context);
  const from =
    rules.length === 0 ? virtualService.from : [...virtualService.from, ...rules.flatMap((rule) => rule.from)];
  return { routes, from, gateway: place.gateway, key, read: context.read };
}

/** The context of the routes of one place, that notes what was read of the place. */
class WatchedContext implements RouteContext {
  readonly read: ReadOfPlace = {};
  readonly #place: RoutePlace;
  readonly #table: TableContext;

  constructor(place: RoutePlace, table: TableContext) {
    this.#place = place;
    this.#table = table;
  }

  get port(): number {
    this.read.port = this.#place.port;
    return this.#place.port;
  }

  get gateway(): string {
    this.read.gateway = this.#place.gateway;
    return this.#place.gateway;
  }

  get terminatesTls(): boolean {
    this.read.terminatesTls = this.#place.terminatesTls;
    return this.#place.terminatesTls;
  }

  get sourceLabels(): Readonly<Record<string, string>> {
    return this.#table.view.sourceLabels;
  }

  get sourceNamespace(): string {
    return this.#table.view.proxy.namespace;
  }

  get defaultRetries(): HTTPRetry | undefined {
    return this.#table.view.lookups.mesh.defaultHttpRetryPolicy;
  }

  get appendsForwardedHost(): boolean {
    return this.#table.headers.forwardedHost;
  }

  service(host: string): Pick<Service, "ports" | "attributes"> | undefined {
    return this.#place.service(host);
  }

  consistentHash(destination: Destination): ConsistentHashLB | undefined {
    const rule = this.#table.hashRule(destination.host);
    return rule && destinationHash(rule.config.spec, destination);
  }
}

/** What the routes of a VirtualService depend on beside the object itself. */
interface RouteReads {
  /** Hosts of its destinations and mirrors, in order. */
  readonly hosts: readonly string[];
  /** Labels of the source that some match compares. */
  readonly labels: readonly string[];
  readonly readsNamespace: boolean;
}

function readsOf(virtualService: MeshVirtualService): RouteReads {
  const hosts = new Set<string>();
  const labels = new Set<string>();
  let readsNamespace = false;
  for (const http of virtualService.config.spec.http ?? []) {
    for (const { destination } of [...(http.route ?? []), ...(http.mirrors ?? [])]) hosts.add(destination.host);
    if (http.mirror !== undefined) hosts.add(http.mirror.host);
    for (const match of http.match ?? []) {
      for (const label of Object.keys(match.sourceLabels ?? {})) labels.add(label);
      readsNamespace ||= match.sourceNamespace !== undefined;
    }
  }
  return { hosts: [...hosts], labels: [...labels], readsNamespace };
}
