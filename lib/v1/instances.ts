import { isSubset } from "../config/values/labels.ts";
import type { Labels } from "../legacy/service-key.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";

/**
 * The instances of a service, port name by port name, each in the registry's order.
 *
 * @param labelSets one of them has to be carried; undefined: all instances count
 */
export function instancesOf(
  world: LegacyWorld,
  hostname: string,
  portNames: readonly string[],
  labelSets: readonly Labels[] | undefined,
): readonly LegacyInstance[] {
  return portNames.flatMap((name) =>
    world.instances.filter(
      (instance) =>
        instance.service.hostname === hostname &&
        instance.servicePort.name === name &&
        !instance.service.external &&
        (labelSets === undefined || labelSets.some((labels) => isSubset(labels, instance.labels))),
    ),
  );
}

/** The instances that run at the address of a node. */
export function instancesAt(world: LegacyWorld, address: string): readonly LegacyInstance[] {
  return world.instances.filter((instance) => instance.address === address);
}
