import type { ConfigSource } from "../config/kinds/mesh-config.ts";

/** Where configuration comes from, as `configSources[].address` and the command line say it. */
export type SourceAddress =
  | { readonly protocol: "resources" | "xds" /** `host:port` */; readonly authority: string }
  /** A folder, or the cluster that one runs in: others read those. */
  | { readonly protocol: "folder" | "kubernetes" };

const authority = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):\d{1,5}$/;

/**
 * `xds://host:port` is MCP over xDS; `mcp://host:port`, and `host:port` as Istio wrote it up to 1.7, ResourceSource.
 *
 * @returns undefined for what is none of these
 */
export function readSourceAddress(address: string): SourceAddress | undefined {
  const [, scheme = "mcp", rest = ""] = /^(?:([a-z0-9]+):\/\/)?(.*)$/.exec(address) ?? [];
  if (scheme === "fs") return { protocol: "folder" };
  if (scheme === "k8s") return { protocol: "kubernetes" };
  if (!authority.test(rest) || Number(rest.slice(rest.lastIndexOf(":") + 1)) > 65_535) return undefined;
  if (scheme === "xds") return { protocol: "xds", authority: rest };
  return scheme === "mcp" ? { protocol: "resources", authority: rest } : undefined;
}

/** The kinds that a config source is asked for; undefined for all. */
export function kindsAskedFor({ subscribedResources = [] }: ConfigSource): readonly string[] | undefined {
  return subscribedResources.includes("SERVICE_REGISTRY") ? ["ServiceEntry"] : undefined;
}
