import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../base/untyped.ts";
import type { Finding } from "../finding.ts";
import type { EnvoyFilter } from "../kinds/envoy-filter.ts";
import { camelFieldName } from "../read-spec.ts";
import { envoyFilterRules } from "../rules/extensions/envoy-filter.ts";
import { envoyFilter } from "../schema/envoy-filter.ts";
import type { ClosedProxies } from "./closed-object.ts";
import { isAboutTls, isHarmlessPatch } from "./harmless-patches.ts";
import { invalidElements } from "./invalid-elements.ts";
import { validSpec } from "./valid-spec.ts";

/** What a refused EnvoyFilter comes to: what is left of its patches, or that everything is denied. */
export type ClosedPatches =
  | { readonly closing: "denied"; readonly proxies?: ClosedProxies }
  | { readonly closing: "only-valid-patches" | "clusters-refused"; readonly spec: EnvoyFilter };

/**
 * Closes a refused EnvoyFilter that was to protect something. Everything is denied where one of its invalid patches does that, or any
 * does where more than patches is invalid. In the place of one that gives clusters TLS, another lets every connection to them fail. Its valid
 * patches stay where it is they that protect.
 *
 * @param spec as written
 * @param errors of the object
 * @returns undefined for one that protects nothing
 */
export function closePatches(spec: unknown, errors: readonly Pick<Finding, "path">[]): ClosedPatches | undefined {
  if (spec === undefined || spec === null) return undefined;
  const { config_patches, configPatches = config_patches, ...fields } = fieldsOf(spec);
  const invalid = invalidElements(errors, "configPatches");
  const patches = listOf(configPatches);
  const protecting = patches.filter((patch) => !isHarmlessPatch(patch));
  const isElsewhere = !isFields(spec) || holdsPatches(configPatches, fields);
  if (protecting.length === 0 && !isElsewhere) return undefined;
  const guards = patches.filter((patch, index) => invalid?.has(index) !== false && protecting.includes(patch));
  const denied = { closing: "denied", ...(isElsewhere ? {} : closedProxies(guards)) } as const;
  if (isElsewhere || invalid === undefined || !guards.every(isAboutTls)) return denied;
  const left = patches.flatMap((patch, index) => (invalid.has(index) ? failing(patch) : [patch]));
  const rest = validSpec(envoyFilter, { ...fields, configPatches: left }, envoyFilterRules);
  if (rest === undefined) return denied;
  return { closing: guards.length === 0 ? "only-valid-patches" : "clusters-refused", spec: rest };
}

/** Whether patches that protect may stand where none are read. */
function holdsPatches(configPatches: unknown, fields: Fields): boolean {
  if (configPatches !== undefined && configPatches !== null && !Array.isArray(configPatches)) return true;
  return Object.entries(fields).some(
    ([name, value]) =>
      !placeFields.has(camelFieldName(name)) &&
      (typeof value === "string" || listOf(value).some((one) => !isHarmlessPatch(one))),
  );
}

const placeFields: ReadonlySet<string> = new Set(["workloadSelector", "targetRefs", "priority"]);

/** The type of proxies that all of these patches are about, by the contexts that they name; nothing where one names none that is known. */
function closedProxies(guards: readonly unknown[]): { readonly proxies?: ClosedProxies } {
  const contexts = new Set(guards.map((patch) => typeOfContext(fieldsOf(fieldsOf(patch).match).context)));
  const [proxies] = contexts;
  return contexts.size === 1 && proxies !== undefined ? { proxies } : {};
}

function typeOfContext(context: unknown): ClosedProxies | undefined {
  if (context === "GATEWAY") return "router";
  return context === "SIDECAR_INBOUND" || context === "SIDECAR_OUTBOUND" ? "sidecar" : undefined;
}

/** No certificate has this hash, so no server is the right one. */
const noHash = "0".repeat(64);

/** What stands for an invalid patch of clusters' TLS. A cluster that is not added takes no connections either. */
function failing(written: unknown): readonly unknown[] {
  const { patch, ...place } = fieldsOf(written);
  const { operation, value } = fieldsOf(patch);
  if (!isAboutTls(written) || operation !== "MERGE") return [];
  const { transport_socket, transportSocket = transport_socket } = fieldsOf(value);
  const socket = {
    // Sockets are found by name.
    name: textOf(fieldsOf(transportSocket).name) || "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      common_tls_context: { validation_context: { verify_certificate_hash: [noHash] } },
    },
  };
  return [{ ...place, patch: { operation, value: { transport_socket: socket } } }];
}
