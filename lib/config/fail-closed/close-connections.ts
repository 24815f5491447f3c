import type { BackendTLSPolicy } from "../gateway-api/backend-policy.ts";
import { backendTlsPolicy } from "../gateway-api/schema/policies.ts";
import type { DestinationRule } from "../kinds/destination-rule.ts";
import { camelFieldName } from "../read-spec.ts";
import { destinationRule } from "../schema/destination-rule.ts";
import { fieldsOf } from "../untyped.ts";
import { validSpec } from "./valid-spec.ts";

/** TLS settings other than those that ask for plain text. */
const tls = /"tls":(?!\{"mode":"DISABLE"\})/;

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
  if (!tls.test(JSON.stringify(raw) ?? "")) return undefined;
  const read = readFields(raw, ["host", "exportTo", "workloadSelector"]) ?? readFields(raw, ["host"]);
  if (read === undefined || read.host === "") return undefined;
  return { ...read, trafficPolicy: { tls: { mode: "ISTIO_MUTUAL", subjectAltNames: [nobody] } } };
}

function readFields(raw: unknown, names: readonly string[]): DestinationRule | undefined {
  const entries = Object.entries(fieldsOf(raw)).filter(([name]) => names.includes(camelFieldName(name)));
  return validSpec(destinationRule, Object.fromEntries(entries), () => []);
}

/** The same for a refused BackendTLSPolicy; undefined where its targets cannot be read. */
export function closeBackendTls(raw: unknown): BackendTLSPolicy | undefined {
  const { targetRefs } = fieldsOf(raw);
  const validation = { hostname: "closed.invalid", caCertificateRefs: noAuthorities };
  return validSpec(backendTlsPolicy, { targetRefs, validation }, () => []);
}
