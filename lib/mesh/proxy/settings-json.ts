import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";

/** Scalars without presence, whose zero proto JSON leaves out; of wrappers and messages a zero says something. */
const withoutPresence: ReadonlySet<string> = new Set([
  "configPath",
  "binaryPath",
  "discoveryAddress",
  "statsdUdpAddress",
  "proxyAdminPort",
  "controlPlaneAuthPolicy",
  "customConfigFile",
  "statNameLength",
  "proxyBootstrapTemplatePath",
  "interceptionMode",
  "proxyMetadata",
  "runtimeValues",
  "statusPort",
  "extraStatTags",
  "meshId",
  "caCertificatesPem",
  "fileFlushMinSizeKb",
  "zipkinAddress",
  "availabilityZone",
  "envoyMetricsServiceAddress",
]);

interface Settings {
  readonly settings: ProxyConfig;
}

/** A ProxyConfig as proto JSON, the `PROXY_CONFIG` of a node; fields sorted. Most proxies of a mesh have the same. */
export const settingsJson = query("settings in a node", ({ settings }: Settings): Readonly<Record<string, unknown>> => {
  const entries = Object.entries(settings).filter(
    ([name, value]) => !withoutPresence.has(name) || !isZero(name, value),
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
});

function isZero(name: string, value: unknown): boolean {
  if (name === "interceptionMode") return value === "REDIRECT";
  if (name === "controlPlaneAuthPolicy") return value === "NONE";
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === undefined;
}

const refersToVariables = query("settings that refer to variables", ({ settings }: Settings): boolean =>
  JSON.stringify(settings).includes("$("),
);

/** The settings with every text that refers to a variable (`$(NAME)`) changed. */
export function expandedSettings(settings: ProxyConfig, expand: (text: string) => string, memo: Memo): ProxyConfig {
  if (!refersToVariables(memo, { settings })) return settings;
  return JSON.parse(JSON.stringify(settings), (_name, value: unknown) =>
    typeof value === "string" ? expand(value) : value,
  );
}
