import type { ConfigKey } from "../config/diagnostic.ts";
import type { MeshDestinationRule } from "../mesh/mesh.ts";
import type { Service } from "../registry/service.ts";

/** The objects behind what was made for some services under a rule: the services' first, then the rule's. */
export function provenanceOf(
  services: readonly Service[],
  rule: MeshDestinationRule | undefined,
): readonly ConfigKey[] {
  return [...services.flatMap((service) => service.origins.map((origin) => origin.key)), ...(rule?.from ?? [])];
}
