import { isFields, jsonIn, stringsOf } from "../../base/untyped.ts";
import type { Labels } from "../../config/values/labels.ts";

/** Metadata that Istio reads as flags, written as texts. */
const flags = [
  "DNS_CAPTURE",
  "DNS_AUTO_ALLOCATE",
  "ENABLE_HBONE",
  "DISABLE_HBONE_SEND",
  "INBOUND_LISTENER_EXACT_BALANCE",
  "OUTBOUND_LISTENER_EXACT_BALANCE",
] as const;

const metaPrefix = "ISTIO_META_";

/** Keys of the variables that injection gives every pod: cut off anew, each would be another text of each of ten thousand pods. */
const injectedKeys: ReadonlyMap<string, string> = new Map(
  [
    "APP_CONTAINERS",
    "CLUSTER_ID",
    "INTERCEPTION_MODE",
    "MESH_ID",
    "NETWORK",
    "NODE_NAME",
    "OWNER",
    "WORKLOAD_NAME",
  ].map((key) => [metaPrefix + key, key]),
);

const jsonPrefix = "ISTIO_METAJSON_";

/** What the variables of an agent's process say of its node. */
export interface EnvironmentMetadata {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `ISTIO_METAJSON_LABELS`. */
  readonly staticLabels: Labels;
  /** Variables that cannot be read, with what is wrong; they count as absent. */
  readonly unreadable: Readonly<Record<string, string>>;
}

/**
 * `ISTIO_META_X` is the key X, the members of every object `ISTIO_METAJSON_…` are keys as well, and win. Flags are written as
 * `true` or `false`, however they were.
 *
 * @param proxyMetadata of the settings, below the environment
 */
export function metadataOfEnvironment(environment: Labels, proxyMetadata: Labels): EnvironmentMetadata {
  const unreadable: Record<string, string> = {};
  const metadata: Record<string, unknown> = {};
  for (const name in proxyMetadata) {
    const key = keyOf(name);
    if (key !== undefined) metadata[key] = proxyMetadata[name];
  }
  const objects: string[] = [];
  for (const name in environment) {
    const key = keyOf(name);
    if (key !== undefined) metadata[key] = environment[name];
    else if (name.startsWith(jsonPrefix)) objects.push(name);
  }
  let staticLabels: Labels = {};
  for (const name of objects) {
    const object = objectOf(environment[name] ?? "");
    if (object === undefined) unreadable[name] = "is no JSON object";
    Object.assign(metadata, object);
    if (name === `${jsonPrefix}LABELS`) staticLabels = stringsOf(object);
  }
  for (const name of flags) {
    if (metadata[name] === undefined) continue;
    const flag = flagOf(metadata[name]);
    if (flag === undefined) {
      unreadable[`${metaPrefix}${name}`] = `${JSON.stringify(metadata[name])} is neither true nor false`;
      delete metadata[name];
    } else metadata[name] = String(flag);
  }
  return { metadata, staticLabels, unreadable };
}

/** The key that a variable gives the value of; undefined for one that gives none, or several. */
const keyOf = (variable: string): string | undefined =>
  injectedKeys.get(variable) ?? (variable.startsWith(metaPrefix) ? variable.slice(metaPrefix.length) : undefined);

/** Go's `strconv.ParseBool`; undefined for anything else. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value !== "string") return undefined;
  if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(?:0|f|F|false|FALSE|False)$/.test(value) ? false : undefined;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(text);
  return isFields(value) ? { ...value } : undefined;
}
