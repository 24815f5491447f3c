import { PortolanError } from "../../base/diagnostic.ts";
import { listIn, memberOf } from "../../base/untyped.ts";
import { canonicalMessage, messageOfType } from "../../descriptors/messages.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import type { UnreadResource } from "./proxy-resources.ts";
import { redacted } from "./redact.ts";

/** A secret that an Envoy has, without what is secret. */
export interface RunningSecret {
  readonly name: string;
  readonly version: string;
  readonly kind: "certificate" | "authorities" | "other";
  /** RFC 3339. */
  readonly since: string;
}

/** What an Envoy was told at run time, without what its bootstrap says. */
export interface RunningConfig {
  /** In the words that snapshots have; versions are those of the answers that brought them. */
  readonly resources: readonly StoredResource[];
  /** What it has and this program cannot read: an Envoy may be newer, or built with extensions of its own. */
  readonly unread: readonly UnreadResource[];
  readonly secrets: readonly RunningSecret[];
  /** Whether it polls, and so has its endpoints in its clusters. */
  readonly shape: ShapeName;
}

/** A dump may be large; more than this is none. */
const maxDumpBytes = 512 * 1024 * 1024;

/**
 * Reads what runs in an Envoy from its admin port.
 *
 * @param admin `http://127.0.0.1:15000`
 * @throws PortolanError where nobody answers there, or no Envoy
 */
export async function runningConfig(admin: string): Promise<RunningConfig> {
  const url = `${admin.replace(/\/$/, "")}/config_dump?include_eds`;
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch((cause: unknown) => {
    throw new PortolanError(`${url} cannot be reached: is this the admin port of an Envoy?`, [], cause);
  });
  const length = Number(response.headers.get("content-length") ?? 0);
  if (!response.ok || length > maxDumpBytes)
    throw new PortolanError(`${url} answers ${response.status}: is this the admin port of an Envoy?`);
  return readConfigDump(await response.text(), url);
}

/** @throws PortolanError for a text that is no dump */
function readConfigDump(text: string, from: string): RunningConfig {
  const configs = listIn(parsed(text, from), "configs");
  if (configs.length === 0) throw new PortolanError(`${from} has no configs: is this the admin port of an Envoy?`);
  const of = (name: string) => configs.filter((one) => String(memberOf(one, "@type")).endsWith(`.${name}`));
  const entries = (dumps: string, list: string, path: readonly string[], type: ResourceType) =>
    of(dumps).flatMap((dump) => listIn(dump, list).flatMap((entry) => resourceOf(entry, path, type)));
  const found = [
    ...entries("ClustersConfigDump", "dynamic_active_clusters", ["cluster"], "clusters"),
    ...entries("ClustersConfigDump", "dynamic_warming_clusters", ["cluster"], "clusters"),
    ...entries("ListenersConfigDump", "dynamic_listeners", ["active_state", "listener"], "listeners"),
    ...entries("RoutesConfigDump", "dynamic_route_configs", ["route_config"], "routes"),
    ...entries("EndpointsConfigDump", "dynamic_endpoint_configs", ["endpoint_config"], "endpoints"),
  ];
  const secrets = of("SecretsConfigDump").flatMap((dump) =>
    [...listIn(dump, "static_secrets"), ...listIn(dump, "dynamic_active_secrets")].map(secretOf),
  );
  const polls = of("BootstrapConfigDump").some((dump) => memberAt(dump, clusterSource) === "REST");
  return {
    resources: found.filter((one) => "text" in one),
    unread: found.filter((one) => "why" in one),
    secrets,
    shape: polls ? "poll" : "stream",
  };
}

/** Where a bootstrap says how clusters are asked for. */
const clusterSource = ["bootstrap", "dynamic_resources", "cds_config", "api_config_source", "api_type"];

const memberAt = (value: unknown, path: readonly string[]): unknown => path.reduce(memberOf, value);

function parsed(text: string, from: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PortolanError(`${from} is no JSON: is this the admin port of an Envoy?`, [], cause);
  }
}

/** @param path where an entry of a dump has the message; one that has none there is still being made, or was refused */
function resourceOf(
  entry: unknown,
  path: readonly string[],
  type: ResourceType,
): readonly (StoredResource | UnreadResource)[] {
  const value = memberAt(entry, path);
  if (value === undefined) return [];
  const nameIn = (message: unknown, field: string) => String(memberOf(message, field) ?? "");
  const typeUrl = nameIn(value, "@type");
  const schema = messageOfType(typeUrl);
  const read =
    schema === undefined ? { error: `unknown type ${typeUrl}` } : canonicalMessage(schema, withoutType(value));
  if ("error" in read)
    return [{ type, name: nameIn(value, type === "endpoints" ? "cluster_name" : "name"), why: read.error }];
  const json: object = Object(redacted(read.json));
  const version = nameIn(entry, "version_info") || nameIn(memberOf(entry, path[0] ?? ""), "version_info");
  const name = nameIn(json, type === "endpoints" ? "clusterName" : "name");
  return [{ type, name, version, from: [], text: JSON.stringify(json) }];
}

function secretOf(entry: unknown): RunningSecret {
  const secret = memberOf(entry, "secret");
  const has = (name: string) => memberOf(secret, name) !== undefined;
  return {
    name: String(memberOf(entry, "name") ?? ""),
    version: String(memberOf(entry, "version_info") ?? ""),
    kind: has("tls_certificate") ? "certificate" : has("validation_context") ? "authorities" : "other",
    since: String(memberOf(entry, "last_updated") ?? ""),
  };
}

function withoutType(value: unknown): unknown {
  const { "@type": _, ...rest } = Object(value);
  return rest;
}
