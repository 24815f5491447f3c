import { createHash } from "node:crypto";
import { byCodePoint } from "../config/diagnostic.ts";
import { type Memo, noMemo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import {
  type CompiledLegacy,
  type DocumentRef,
  emptySite,
  type LegacyClass,
  type LegacyHost,
  type LegacyIndex,
  type LegacySite,
  legacyClassKey,
} from "../snapshot/legacy/compiled-legacy.ts";
import { encodeDocument } from "../snapshot/legacy/go-json.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { holes } from "../snapshot/legacy/template.ts";
import { clustersDocument } from "./cds.ts";
import { matchedSources } from "./config-store.ts";
import type { Listener } from "./documents.ts";
import { listenersDocument } from "./lds.ts";
import { type LegacyInstance, type LegacyService, type LegacyWorld, usesMixer } from "./legacy-world.ts";
import { allRoutes, tablesKey } from "./rds.ts";
import { hostRow, registrations, zoneOf } from "./sds.ts";

/**
 * Every answer of the v1 API for a world, made ahead: for each place at which something runs, in the DNS domain of its
 * namespace, and for nodes at any other address. The same object for the same world: what v1 does not know changes none.
 *
 * @param domains further DNS domains of nodes
 */
export const compileLegacy = (
  world: LegacyWorld,
  domains: readonly string[] = [],
  memo: Memo = noMemo,
): CompiledLegacy => legacyAnswers(memo, { world, domains });

interface Inputs {
  readonly world: LegacyWorld;
  readonly domains: readonly string[];
}

const legacyAnswers = step("answers of the v1 API", { world: "identity", domains: "value" }, allAnswers);

function allAnswers({ world, domains }: Inputs): CompiledLegacy {
  const texts = new Map<string, string>();
  const refOf = (document: object, resources: number): DocumentRef => {
    const text = encodeDocument(document);
    const hash = createHash("sha256").update(text).digest("hex");
    texts.set(hash, text);
    return { text: hash, resources };
  };
  const remembering = { ...world, remember: createMemory() };
  const places = placesOf(world);
  const allDomains = [...new Set([...domainsOf(world, world.services), ...domains])];
  // Only rules with a source look at what runs at the address of a router.
  const routerPlaces = hasSources(world) ? places : places.slice(0, 1);
  const classes = new Map<string, LegacyClass>();
  const add = (type: NodeId["type"], place: Place, domain: string, addressed: boolean): void => {
    const node = nodeOf(type, domain, place, addressed);
    classes.set(legacyClassKey(node, place.id), classOf(remembering, node, place, refOf));
  };
  for (const place of places) {
    const services = place.instances.map(({ service }) => service);
    const own = place.id === emptySite ? allDomains : new Set([...domainsOf(world, services), ...domains]);
    for (const domain of own) add("sidecar", place, domain, true);
  }
  for (const addressed of [true, false]) {
    for (const domain of allDomains) {
      for (const place of routerPlaces) add("router", place, domain, addressed);
      for (const place of places.slice(0, 1)) add("ingress", place, domain, addressed);
    }
  }
  const all = registrations(world);
  const index: LegacyIndex = {
    registrations: refOf(all, all.length),
    classes: sortedRecord(classes),
    sites: sortedRecord(new Map(places.flatMap((place) => place.sites))),
    hosts: hostsOf(world),
  };
  return { index, texts: sortedRecord(texts) };
}

function createMemory(): NonNullable<LegacyWorld["remember"]> {
  const made = new Map<string, unknown>();
  return <T>(key: string, make: () => T): T => {
    if (!made.has(key)) made.set(key, make());
    // The key names what was made, its type included.
    return made.get(key) as T;
  };
}

const hasSources = ({ configs, v1alpha3 }: LegacyWorld): boolean =>
  v1alpha3 !== undefined ||
  configs.routeRules.some(({ spec }) => spec.match?.source !== undefined) ||
  configs.destinationPolicies.some(({ spec }) => spec.source !== undefined);

/** What runs at some addresses, seen from there: instances with a hole for their address. */
interface Place {
  readonly id: string;
  readonly instances: readonly LegacyInstance[];
  /** undefined: a hole; else the one address, because something else of the mesh has it too. */
  readonly ip: string | undefined;
  /** Where the workload's own listeners stand among the others, which are sorted by address. */
  readonly representative: string | undefined;
  readonly sites: readonly (readonly [address: string, site: LegacySite])[];
}

const { ip: ipHole } = holes("sidecar", "");

/** Addresses at which the same runs are one place, as long as their listeners sort alike. */
function placesOf(world: LegacyWorld): readonly Place[] {
  const byAddress = Map.groupBy(world.instances, (instance) => instance.address);
  const fixed = fixedAddresses(world);
  const places = new Map<string, Place>();
  for (const [address, instances] of byAddress) {
    const isFixed = fixed.some((listener) => listener.startsWith(`tcp://${address}:`));
    const rank = fixed.filter((listener) => listener < `tcp://${address}:`).length;
    const ports = instances.map(({ service, servicePort, port }) => [service.hostname, servicePort.name, port]);
    const text = JSON.stringify([ports, labelsRead(world, instances), isFixed ? address : rank]);
    const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
    const site = [address, { id, zone: zoneOf(instances) }] as const;
    const present = places.get(id);
    places.set(id, {
      id,
      instances: isFixed ? instances : instances.map((instance) => ({ ...instance, address: ipHole })),
      ip: isFixed ? address : undefined,
      representative: address,
      sites: [...(present?.sites ?? []), site],
    });
  }
  const empty: Place = { id: emptySite, instances: [], ip: undefined, representative: undefined, sites: [] };
  return [empty, ...places.values()];
}

/** What is read of the labels of instances: Mixer is told all of them, else only those count that some source asks for. */
function labelsRead(world: LegacyWorld, instances: readonly LegacyInstance[]): unknown {
  if (usesMixer(world.mesh) || world.v1alpha3 !== undefined) {
    return instances.map(({ labels }) => Object.entries(labels).sort(([a], [b]) => byCodePoint(a, b)));
  }
  return matchedSources(world.configs, instances);
}

/** Addresses of listeners that every node has. */
function fixedAddresses(world: LegacyWorld): readonly string[] {
  const anywhere = listenersDocument(world, holes("sidecar", ""), []).listeners ?? [];
  return anywhere.map(({ address }) => address).filter((address) => !address.includes(ipHole));
}

function nodeOf(type: NodeId["type"], domain: string, { ip }: Place, addressed: boolean): NodeId {
  const node = holes(type, domain);
  if (!addressed) return { ...node, ip: "", ipBytes: "" };
  return ip === undefined ? node : { ...node, ip };
}

function classOf(
  world: LegacyWorld,
  node: NodeId,
  place: Place,
  refOf: (document: object, resources: number) => DocumentRef,
): LegacyClass {
  const clusters = clustersDocument(world, node, place.instances);
  const { listeners } = listenersDocument(world, node, place.instances);
  const ordered = listeners === null || node.type !== "sidecar" ? listeners : inPlace(listeners, place);
  const makeRoutes = (): Pick<LegacyClass, "routes" | "routesError"> => routesOf(world, node, place, refOf);
  const key = `references|${tablesKey({ world, node, instances: place.instances })}`;
  return {
    clusters: refOf(clusters, clusters.clusters.length),
    listeners: refOf({ listeners: ordered }, ordered?.length ?? 0),
    ...(world.remember?.(key, makeRoutes) ?? makeRoutes()),
  };
}

function routesOf(
  world: LegacyWorld,
  node: NodeId,
  place: Place,
  refOf: (document: object, resources: number) => DocumentRef,
): Pick<LegacyClass, "routes" | "routesError"> {
  const routes = allRoutes(world, node, place.instances);
  if ("error" in routes) return { routes: {}, routesError: routes.error };
  const refs = [...routes].map(([name, table]) => [name, refOf(table, table.virtual_hosts.length)] as const);
  return { routes: sortedRecord(new Map(refs)) };
}

/** Sorted by address with the hole filled; the listeners of nodes that nobody knows stand last. */
function inPlace(listeners: readonly Listener[], { representative, ip }: Place): readonly Listener[] {
  if (ip !== undefined) return listeners;
  const filled = (address: string): string => address.replace(ipHole, representative ?? "\uFFFF");
  return [...listeners].sort((a, b) => byCodePoint(filled(a.address), filled(b.address)));
}

function hostsOf(world: LegacyWorld): LegacyIndex["hosts"] {
  const hosts = new Map<string, Map<string, LegacyHost[]>>();
  for (const instance of world.instances) {
    if (instance.service.external) continue;
    const byPort = hosts.get(instance.service.hostname) ?? new Map<string, LegacyHost[]>();
    hosts.set(instance.service.hostname, byPort);
    const row = { host: hostRow(instance), labels: instance.labels };
    const rows = byPort.get(instance.servicePort.name);
    if (rows === undefined) byPort.set(instance.servicePort.name, [row]);
    else rows.push(row);
  }
  return sortedRecord(new Map([...hosts].map(([host, byPort]) => [host, sortedRecord(byPort)])));
}

/** DNS domains of the namespaces of services. */
function domainsOf({ domain }: LegacyWorld, services: readonly LegacyService[]): readonly string[] {
  const suffix = `.svc.${domain}`;
  const namespaces = services
    .filter(({ hostname }) => hostname.endsWith(suffix))
    .map(({ hostname }) => hostname.slice(0, -suffix.length).split(".")[1] ?? "");
  return [...new Set(namespaces.filter((namespace) => namespace !== ""))].sort().map((namespace) => namespace + suffix);
}

function sortedRecord<T>(map: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...map].sort(([a], [b]) => byCodePoint(a, b)));
}
