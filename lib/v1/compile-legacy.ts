import { createHash } from "node:crypto";
import { byCodePoint } from "../config/diagnostic.ts";
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
import type { Listener } from "./documents.ts";
import { listenersDocument } from "./lds.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";
import { allRoutes } from "./rds.ts";
import { hostRow, registrations, zoneOf } from "./sds.ts";

/**
 * Every answer of the v1 API for a world, made ahead.
 *
 * @param domains DNS domains of nodes; `<namespace>.svc.<domain>` of every service when absent
 */
export function compileLegacy(world: LegacyWorld, domains: readonly string[] = domainsOf(world)): CompiledLegacy {
  const texts = new Map<string, string>();
  const refOf = (document: object, resources: number): DocumentRef => {
    const text = encodeDocument(document);
    const hash = createHash("sha256").update(text).digest("hex");
    texts.set(hash, text);
    return { text: hash, resources };
  };
  const places = placesOf(world);
  const classes = new Map<string, LegacyClass>();
  for (const domain of domains) {
    for (const type of ["sidecar", "ingress", "router"] as const) {
      for (const place of type === "ingress" ? places.filter(({ id }) => id === emptySite) : places) {
        for (const addressed of type === "sidecar" ? [true] : [true, false]) {
          const node = nodeOf(type, domain, place, addressed);
          const made = classOf(world, node, place, refOf);
          for (const site of type === "ingress" ? places.map(({ id }) => id) : [place.id]) {
            classes.set(legacyClassKey(node, site), made);
          }
        }
      }
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
    const signature = instances.map(({ service, servicePort, port, labels }) => [
      service.hostname,
      servicePort.name,
      port,
      Object.entries(labels).sort(([a], [b]) => byCodePoint(a, b)),
    ]);
    const text = JSON.stringify([signature, isFixed ? address : rank]);
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
  const routes = allRoutes(world, node, place.instances);
  const ordered = listeners === null || node.type !== "sidecar" ? listeners : inPlace(listeners, place);
  return {
    clusters: refOf(clusters, clusters.clusters.length),
    listeners: refOf({ listeners: ordered }, ordered?.length ?? 0),
    routes:
      "error" in routes
        ? {}
        : sortedRecord(
            new Map([...routes].map(([name, table]) => [name, refOf(table, table.virtual_hosts.length)] as const)),
          ),
    ...("error" in routes ? { routesError: routes.error } : {}),
  };
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

/** Domains of the namespaces that have services. */
function domainsOf(world: LegacyWorld): readonly string[] {
  const suffix = `.svc.${world.domain}`;
  const namespaces = world.services
    .filter(({ hostname }) => hostname.endsWith(suffix))
    .map(({ hostname }) => hostname.slice(0, -suffix.length).split(".")[1] ?? "");
  return [...new Set(namespaces.filter((namespace) => namespace !== ""))].sort().map((namespace) => namespace + suffix);
}

function sortedRecord<T>(map: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...map].sort(([a], [b]) => byCodePoint(a, b)));
}
