import { createHash } from "node:crypto";
import { byCodePoint } from "../base/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { emptySite, type LegacySite } from "../legacy/compiled-legacy.ts";
import { holes } from "../legacy/template.ts";
import { matchedSources } from "./config-store.ts";
import {
  type LegacyInstance,
  type LegacyMesh,
  type LegacyPort,
  type LegacyService,
  usesMixer,
} from "./legacy-world.ts";
import { outboundOf } from "./listeners/outbound-listeners.ts";
import { nothingRuns, runsHere } from "./runs-here.ts";
import { zoneOf } from "./sds.ts";

/** What runs at some addresses, seen from there: one object for what says the same. */
export interface Place {
  readonly id: string;
  /** With a hole for their address, where they may have one. */
  readonly instances: readonly LegacyInstance[];
  /** undefined: a hole; else the one address, because something else of the mesh has it too. */
  readonly ip: string | undefined;
  /** Where the workload's own listeners stand among the others, which are sorted by address. */
  readonly representative: string | undefined;
}

export interface Places {
  /** The one at which nothing runs first. */
  readonly places: readonly Place[];
  readonly sites: ReadonlyMap<string, LegacySite>;
}

const { ip: ipHole } = holes("sidecar", "");

/** Addresses at which the same runs are one place, as long as their listeners sort alike. */
export function placesOf(memo: Memo, mesh: LegacyMesh, instances: readonly LegacyInstance[]): Places {
  const fixed = fixedAddresses(memo, mesh);
  const hosts = new Set(fixed.map((listener) => listener.slice(0, listener.lastIndexOf(":"))));
  const places = new Map<string, Place>();
  const sites = new Map<string, LegacySite>();
  for (const [address, here] of Map.groupBy(instances, (instance) => instance.address)) {
    const isFixed = hosts.has(`tcp://${address}`);
    const rank = rankOf(`tcp://${address}:`, fixed);
    const ports = here.map(({ service, servicePort, port }) => [service.hostname, servicePort.name, port]);
    const text = JSON.stringify([ports, labelsRead(mesh, here), isFixed ? address : rank]);
    const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
    sites.set(address, { id, zone: zoneOf(here) });
    if (places.has(id)) continue;
    places.set(
      id,
      placeOf(memo, {
        id,
        ip: isFixed ? address : undefined,
        representative: address,
        services: here.map(({ service }) => service),
        ports: here.map(({ servicePort }) => servicePort),
        rest: here.map(({ port, labels, availabilityZone }) => ({ port, labels, availabilityZone })),
      }),
    );
  }
  return { places: [nowhere, ...places.values()], sites };
}

const nowhere: Place = { id: emptySite, instances: [], ip: undefined, representative: undefined };

interface PlaceInputs extends Omit<Place, "instances"> {
  /** Of each instance, like the next two. */
  readonly services: readonly LegacyService[];
  readonly ports: readonly LegacyPort[];
  readonly rest: readonly Pick<LegacyInstance, "port" | "labels" | "availabilityZone">[];
}

const placeOf = query(
  "place of the v1 API",
  { services: "elements", ports: "elements", rest: "value" },
  ({ services, ports, rest, ...place }: PlaceInputs): Place => ({
    ...place,
    instances: rest.flatMap((instance, at) => {
      const [service, servicePort] = [services[at], ports[at]];
      if (service === undefined || servicePort === undefined) return [];
      return { ...instance, service, servicePort, address: place.ip ?? ipHole };
    }),
  }),
);

/** What is read of the labels of instances: Mixer is told all of them, else only those count that some source asks for. */
function labelsRead(mesh: LegacyMesh, instances: readonly LegacyInstance[]): unknown {
  if (usesMixer(mesh.mesh) || mesh.v1alpha3 !== undefined) {
    return instances.map(({ labels }) => Object.entries(labels).sort(([a], [b]) => byCodePoint(a, b)));
  }
  return matchedSources(mesh.configs, runsHere(instances));
}

/** Addresses of listeners that every node has, sorted. */
function fixedAddresses(memo: Memo, mesh: LegacyMesh): readonly string[] {
  const { listeners, mixed } = outboundOf(memo, { world: mesh, node: holes("sidecar", "") }, nothingRuns);
  const addresses = [...listeners.map(({ address }) => address), ...mixed.map(({ ip, port }) => `tcp://${ip}:${port}`)];
  return addresses.sort();
}

/** How many of some sorted texts come before another. */
function rankOf(text: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
