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

/** Addresses with the same workload instances share one class of documents. */
export interface AddressClass {
  readonly id: string;
  /** With a hole for their address, where they may have one. */
  readonly instances: readonly LegacyInstance[];
  /** undefined: a hole; else the one address, because something else of the mesh has it too. */
  readonly ip: string | undefined;
  /** Where the workload's own listeners stand among the others, which are sorted by address. */
  readonly representative: string | undefined;
}

export interface AddressClasses {
  /** The class of addresses without a workload first. */
  readonly addressClasses: readonly AddressClass[];
  readonly sites: ReadonlyMap<string, LegacySite>;
}

const { ip: ipHole } = holes("sidecar", "");

/** Addresses with the same instances form one class, if their listeners sort alike. */
export function addressClassesOf(memo: Memo, mesh: LegacyMesh, instances: readonly LegacyInstance[]): AddressClasses {
  const fixed = fixedAddresses(memo, mesh);
  const hosts = new Set(fixed.map((listener) => listener.slice(0, listener.lastIndexOf(":"))));
  const addressClasses = new Map<string, AddressClass>();
  const sites = new Map<string, LegacySite>();
  for (const [address, here] of Map.groupBy(instances, (instance) => instance.address)) {
    const isFixed = hosts.has(`tcp://${address}`);
    const rank = rankOf(`tcp://${address}:`, fixed);
    const ports = here.map(({ service, servicePort, port }) => [service.hostname, servicePort.name, port]);
    const text = JSON.stringify([ports, labelsRead(mesh, here), isFixed ? address : rank]);
    const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
    sites.set(address, { id, zone: zoneOf(here) });
    if (addressClasses.has(id)) continue;
    addressClasses.set(
      id,
      addressClassOf(memo, {
        id,
        ip: isFixed ? address : undefined,
        representative: address,
        services: here.map(({ service }) => service),
        ports: here.map(({ servicePort }) => servicePort),
        rest: here.map(({ port, labels, availabilityZone }) => ({ port, labels, availabilityZone })),
      }),
    );
  }
  return { addressClasses: [nowhere, ...addressClasses.values()], sites };
}

const nowhere: AddressClass = { id: emptySite, instances: [], ip: undefined, representative: undefined };

interface PlaceInputs extends Omit<AddressClass, "instances"> {
  /** Of each instance, like the next two. */
  readonly services: readonly LegacyService[];
  readonly ports: readonly LegacyPort[];
  readonly rest: readonly Pick<LegacyInstance, "port" | "labels" | "availabilityZone">[];
}

const addressClassOf = query(
  "place of the v1 API",
  { services: "elements", ports: "elements", rest: "value" },
  ({ services, ports, rest, ...addressClass }: PlaceInputs): AddressClass => ({
    ...addressClass,
    instances: rest.flatMap((instance, at) => {
      const [service, servicePort] = [services[at], ports[at]];
      if (service === undefined || servicePort === undefined) return [];
      return { ...instance, service, servicePort, address: addressClass.ip ?? ipHole };
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
