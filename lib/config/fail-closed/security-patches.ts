import type { Finding } from "../finding.ts";
import { fieldsOf, listOf } from "../untyped.ts";
import { invalidElements } from "./invalid-elements.ts";

/** Filters of Envoy that decide who may pass, and the fields that ask a client for its certificate. */
const securityWords =
  /\b(?:rbac|ext_authz|jwt_authn|oauth2|basic_auth|api_key_auth|gcp_authn|client_ssl_auth|DownstreamTlsContext|require_?client_?certificate)\b/i;

/**
 * Whether a refused EnvoyFilter was to protect something: one of its invalid patches names such a filter, or any does where more than
 * patches is invalid.
 *
 * @param spec as written
 * @param errors of the object
 */
export function securityPatches(spec: unknown, errors: readonly Pick<Finding, "path">[]): boolean {
  const fields = fieldsOf(spec);
  const patches = listOf(fields.configPatches ?? fields.config_patches);
  const invalid = invalidElements(errors, "configPatches");
  const asked = invalid === undefined ? [spec] : patches.filter((_, index) => invalid.has(index));
  return asked.some(namesSecurity);
}

/** Whether a value names a filter that decides who may pass, or asks a client for its certificate. */
export const namesSecurity = (value: unknown): boolean => securityWords.test(JSON.stringify(value) ?? "");
