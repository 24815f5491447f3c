import { byCodePoint } from "../../base/diagnostic.ts";
import { byAge, type Config } from "../../config/config.ts";
import {
  type EnvoyFilter,
  longestVersionPattern,
  type PatchContext,
  type ProxyMatch,
} from "../../config/kinds/envoy-filter.ts";
import { compileRe2, type Re2 } from "../../config/values/re2.ts";
import { remembered } from "../../incremental/lazy.ts";
import { query } from "../../incremental/query.ts";
import { groupBy } from "../group-by.ts";
import type { SelectedPatch } from "../views/views.ts";
import { attaches, type PolicyWorkload } from "./policy-attachment.ts";

/** What of a proxy an Envoy filter may match beside its workload. */
export interface PatchedProxy extends PolicyWorkload {
  readonly type: "sidecar" | "router";
  readonly istioVersion: string;
  /** Node metadata as sent. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Chooses the patches of a proxy, in the order in which they apply.
 * @see docs/how-istio-does-it/envoy-filters.md#which-patches
 */
export type EnvoyFilterIndex = (proxy: PatchedProxy) => readonly SelectedPatch[];

/** The index, remembered. */
export const envoyFilterIndex = query("envoy filter index", (inputs: EnvoyFilterInputs) => indexEnvoyFilters(inputs));

interface EnvoyFilterInputs {
  readonly configs: readonly Config<EnvoyFilter>[];
  readonly rootNamespace: string;
  /** A pattern that is too long matches no proxy. */
  readonly boundsProxyVersion: boolean;
}

export function indexEnvoyFilters({ configs, rootNamespace, boundsProxyVersion }: EnvoyFilterInputs): EnvoyFilterIndex {
  const byNamespace = groupBy(configs, (config) => config.meta.namespace);
  const compiled = remembered(compileRe2);
  const versionPattern = (pattern: string): Re2 | undefined =>
    boundsProxyVersion && pattern.length > longestVersionPattern ? undefined : compiled(pattern);
  const matches = (match: ProxyMatch | undefined, proxy: PatchedProxy): boolean =>
    match === undefined ||
    (matchesVersion(match.proxyVersion, proxy.istioVersion, versionPattern) &&
      matchesMetadata(match.metadata, proxy.metadata));
  return (proxy) => {
    const namespaces = new Set([rootNamespace, proxy.namespace]);
    return [...namespaces]
      .flatMap((namespace) => byNamespace.get(namespace) ?? [])
      .filter((filter) => attaches(filter, (spec) => spec.workloadSelector?.labels, proxy))
      .sort((a, b) => inOrder(a, b, rootNamespace))
      .flatMap((filter) =>
        (filter.spec.configPatches ?? [])
          .filter(({ match }) => appliesTo(match?.context ?? "ANY", proxy.type) && matches(match?.proxy, proxy))
          .map((patch): SelectedPatch => ({ filter, patch })),
      );
  };
}

/** Lowest priority number first, then the root namespace, then age, then `name.namespace`. */
function inOrder(a: Config<EnvoyFilter>, b: Config<EnvoyFilter>, rootNamespace: string): number {
  const later = (config: Config): number => (config.meta.namespace === rootNamespace ? 0 : 1);
  return (
    (a.spec.priority ?? 0) - (b.spec.priority ?? 0) ||
    later(a) - later(b) ||
    a.meta.creationTimestampMs - b.meta.creationTimestampMs ||
    byCodePoint(`${a.meta.name}.${a.meta.namespace}`, `${b.meta.name}.${b.meta.namespace}`) ||
    byAge(a, b)
  );
}

function appliesTo(context: PatchContext, type: PatchedProxy["type"]): boolean {
  if (context === "ANY") return true;
  return type === "router" ? context === "GATEWAY" : context === "SIDECAR_INBOUND" || context === "SIDECAR_OUTBOUND";
}

const longestVersion = 1024;

/** The pattern must be found in the version; a proxy without version never matches. */
function matchesVersion(
  pattern: string | undefined,
  version: string,
  compiled: (pattern: string) => Re2 | undefined,
): boolean {
  if (pattern === undefined || pattern === "") return true;
  if (version === "" || version.length > longestVersion) return false;
  return compiled(pattern)?.isFoundIn(version) ?? false;
}

function matchesMetadata(
  wanted: Readonly<Record<string, string>> | undefined,
  metadata: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => metadata[key] === value);
}
