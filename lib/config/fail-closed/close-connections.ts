import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import type { BackendTLSPolicy } from "../gateway-api/backend-policy.ts";
import type { DestinationRule } from "../kinds/destination-rule.ts";
import { camelFieldName } from "../read-spec.ts";
import { destinationRule } from "../schema/destination-rule.ts";
import { statesTls } from "./states-tls.ts";
import { validSpec } from "./valid-spec.ts";

/** No workload has this identity, so no server is the right one. */
const nobody = "spiffe://closed.invalid/nobody";

/** There is no ConfigMap of this name, so no server is trusted. */
const noAuthorities = [{ group: "", kind: "ConfigMap", name: "closed:" }];

/**
 * Closes a refused DestinationRule that states TLS: without it connections to its host would be plain text.
 *
 * @param raw the spec as written
 * @returns a rule by which every TLS handshake fails; undefined where none is stated, or nobody can say for which host
 */
export function closeDestinationRule(raw: unknown): DestinationRule | undefined {
  if (!statesTls(raw)) return undefined;
  const read = readFields(raw, ["host", "exportTo", "workloadSelector"]) ?? readFields(raw, ["host"]);
  if (read === undefined || read.host === "") return undefined;
  return { ...read, trafficPolicy: { tls: { mode: "ISTIO_MUTUAL", subjectAltNames: [nobody] } } };
}

function readFields(raw: unknown, names: readonly string[]): DestinationRule | undefined {
  const entries = names.flatMap((name) => {
    const value = fieldNamed(raw, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return validSpec(destinationRule, Object.fromEntries(entries), () => []);
}

/** A field whose name may be written in capitals or in snake_case. */
function fieldNamed(raw: unknown, name: string): unknown {
  const isName = (written: string) => camelFieldName(written).toLowerCase() === name.toLowerCase();
  return Object.entries(fieldsOf(raw)).find(([written]) => isName(written))?.[1];
}

/**
 * The same for a refused BackendTLSPolicy: for each target whose name can be read, whatever else is wrong with it.
 *
 * @returns undefined where there is none
 */
export function closeBackendTls(raw: unknown): BackendTLSPolicy | undefined {
  const written = [...listOf(fieldNamed(raw, "targetRefs")), fieldNamed(raw, "targetRef")];
  const targetRefs = written.map(fieldsOf).flatMap(({ group, kind, name }) => {
    if (typeof name !== "string" || name === "") return [];
    return [{ group: textOf(group), kind: textOf(kind) || "Service", name }];
  });
  if (targetRefs.length === 0) return undefined;
  return { targetRefs, validation: { hostname: "closed.invalid", caCertificateRefs: noAuthorities } };
}
