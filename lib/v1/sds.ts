import { byCodePoint } from "../base/diagnostic.ts";
import type { NodeId } from "../legacy/node-id.ts";
import { parseServiceKey, serviceKey } from "../legacy/service-key.ts";
import type { Registration, SdsDocument, SdsHost } from "./documents.ts";
import { instancesAt, instancesOf } from "./instances.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";

/**
 * SDS: the endpoints that a service key means; an unknown key has none.
 * @see docs/how-istio-does-it/legacy-v1.md#endpoints
 */
export function hostsDocument(world: LegacyWorld, key: string): SdsDocument {
  const { hostname, ports, labels } = parseServiceKey(key);
  return { hosts: instancesOf(world, hostname, ports, labels).map(hostRow) };
}

/** `/v1/registration`: every port of every service of the mesh, by key. */
export function registrations(world: LegacyWorld): readonly Registration[] {
  const behind = Map.groupBy(
    world.instances.filter(({ service }) => !service.external),
    ({ service, servicePort }) => serviceKey(service.hostname, [servicePort.name]),
  );
  return world.services
    .filter((service) => !service.external)
    .flatMap(({ hostname, ports }) =>
      ports.map(({ name }) => {
        const key = serviceKey(hostname, [name]);
        return { "service-key": key, hosts: (behind.get(key) ?? []).map(hostRow) };
      }),
    )
    .sort((a, b) => byCodePoint(a["service-key"], b["service-key"]));
}

/** One endpoint as SDS has it. */
export function hostRow({ address, port, availabilityZone }: LegacyInstance): SdsHost {
  return {
    ip_address: address,
    port,
    ...(availabilityZone === "" ? {} : { tags: { az: availabilityZone } }),
  };
}

/** `/v1/az`: the zone of what runs at the node's address, "" when unknown; undefined if nothing runs there. */
export function availabilityZone(world: LegacyWorld, node: NodeId): string | undefined {
  const instances = instancesAt(world, node.ip);
  return instances.length === 0 ? undefined : zoneOf(instances);
}

/** The zone of the first of some instances: as the registry has it, else as a label says. */
export function zoneOf([first]: readonly LegacyInstance[]): string {
  return first?.availabilityZone || (first?.labels["istio-az"] ?? "");
}
