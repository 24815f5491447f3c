import type { Finding } from "../finding.ts";
import type { EnvoyFilter } from "../kinds/envoy-filter.ts";
import { envoyFilterRules } from "../rules/extensions/envoy-filter.ts";
import { envoyFilter } from "../schema/envoy-filter.ts";
import { fieldsOf, listOf } from "../untyped.ts";
import { invalidElements } from "./invalid-elements.ts";
import { namesSecurity } from "./names-security.ts";
import { validSpec } from "./valid-spec.ts";

/** What a refused EnvoyFilter comes to: its valid patches, or that everything is denied. */
export type ClosedPatches =
  | { readonly closing: "denied" }
  | { readonly closing: "only-valid-patches"; readonly spec: EnvoyFilter };

/**
 * Closes a refused EnvoyFilter that was to protect something. Everything is denied where one of its invalid patches names such a filter, or
 * any does where more than patches is invalid. Its valid patches stay where it is they that protect.
 *
 * @param spec as written
 * @param errors of the object
 * @returns undefined for one that protects nothing
 */
export function closePatches(spec: unknown, errors: readonly Pick<Finding, "path">[]): ClosedPatches | undefined {
  if (!namesSecurity(spec)) return undefined;
  const { config_patches, configPatches = config_patches, ...fields } = fieldsOf(spec);
  const invalid = invalidElements(errors, "configPatches");
  if (invalid === undefined) return { closing: "denied" };
  const patches = listOf(configPatches);
  if (patches.some((patch, index) => invalid.has(index) && namesSecurity(patch))) return { closing: "denied" };
  const valid = patches.filter((_, index) => !invalid.has(index));
  const rest = validSpec(envoyFilter, { ...fields, configPatches: valid }, envoyFilterRules);
  return rest === undefined ? { closing: "denied" } : { closing: "only-valid-patches", spec: rest };
}
