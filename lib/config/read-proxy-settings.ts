import { readDocument } from "./documents/parse.ts";
import { error } from "./finding.ts";
import { defaultProxyConfig, type ProxyConfig } from "./kinds/mesh-config.ts";
import { mergeProxyConfig } from "./read-mesh-config.ts";
import { readSpec, type SpecReading } from "./read-spec.ts";
import { proxySettingsRules } from "./rules/mesh-config.ts";
import { proxyConfig } from "./schema/mesh-proxy-config.ts";

const lenient = { unknownFields: "ignore", emptyWhenNull: [] } as const;

/** Far more than a ProxyConfig has; aliases cannot make a small text mean more. */
const maxValues = 10_000;

/**
 * Reads a ProxyConfig that stands as text in another object (the annotation `proxy.istio.io/config`, the variable
 * `PROXY_CONFIG`): YAML or JSON. Unknown fields are ignored with a warning, as Istio has it.
 *
 * @returns what it says, without any default; paths begin at its root, and are empty where it cannot be read at all
 */
export function readProxySettings(text: string): SpecReading<Partial<ProxyConfig>> {
  const reading = readDocument({ text, line: 1 }, maxValues);
  if (reading.kind !== "value") {
    const message = reading.kind === "unreadable" ? reading.message : "holds more than one value";
    return { spec: undefined, findings: [error([], message, "it is a ProxyConfig, in YAML or JSON")] };
  }
  const { spec, findings: found } = readSpec(proxyConfig, reading.value, lenient);
  if (spec === undefined) return { spec, findings: found };
  const findings = [...found, ...proxySettingsRules(mergeProxyConfig(defaultProxyConfig, spec), [])];
  return { spec: findings.some(({ severity }) => severity === "error") ? undefined : spec, findings };
}

/** The ProxyConfig in the metadata of a node; nothing of one that cannot be read. */
export function proxySettingsOf(value: unknown): Partial<ProxyConfig> {
  return readSpec(proxyConfig, value, lenient).spec ?? {};
}
