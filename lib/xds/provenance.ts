import { type ConfigKey, keyText } from "../base/diagnostic.ts";
import type { MeshDestinationRule } from "../mesh/index/destination-rule-index.ts";
import type { Service } from "../registry/service.ts";

/** The objects behind a service. */
export function originKeys(service: Service): readonly ConfigKey[] {
  return service.origins.map((origin) => origin.key);
}

/** The objects behind what was made for a service under a rule: the service's first, then the rule's. */
export function provenanceOf(service: Service, rule: MeshDestinationRule | undefined): readonly ConfigKey[] {
  const own = originKeys(service);
  return rule === undefined ? own : [...own, ...rule.from];
}

/** The keys without those that say what one before them says. */
export function eachOnce(keys: readonly ConfigKey[]): readonly ConfigKey[] {
  return keys.length < 2 ? keys : [...new Map(keys.map((key) => [keyText(key), key])).values()];
}
