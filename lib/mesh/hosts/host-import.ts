import { hostsOverlap, isSubsetHost, isWildcard } from "../../config/values/host-name.ts";

/**
 * What one egress listener imports from one namespace.
 * @see docs/how-istio-does-it/sidecar-scopes.md#hosts-of-an-egress-listener
 */
interface Imports {
  readonly exact: Set<string>;
  readonly all: string[];
}

/** The host list of an egress listener, ready for questions. */
export interface HostImports {
  /**
   * Says which hosts come in by the same entries as a service of a namespace; undefined when the service is not imported.
   * A host comes in only by an entry that covers all of it.
   */
  importing(hostname: string, namespace: string): ((host: string) => boolean) | undefined;
  /**
   * Does a host of a virtual service of this namespace overlap an import?
   * @param covered true for objects with Gateway API semantics: the import must cover the whole host
   */
  importsVirtualServiceHost(host: string, namespace: string, covered: boolean): boolean;
  /** True when everything is imported alike: `*\/*` and nothing besides. */
  readonly everything: boolean;
}

/** Excludes everything, or beside other entries nothing, as the release has it. */
const everythingExcluded = "~/*";

/**
 * Reads `namespace/dnsName` entries: `*` for any namespace, `.` for the scope's own; `~` before the namespace excludes.
 * Entries of another form are passed over (validation has refused them).
 *
 * @param excludesEverything whether `~/*` is heeded beside other entries
 */
export function hostImports(hosts: readonly string[], ownNamespace: string, excludesEverything: boolean): HostImports {
  const imports = new Map<string, Imports>();
  const excluded = new Map<string, string[]>();
  for (const entry of hosts) {
    const [written, host, more] = entry.split("/");
    if (entry === everythingExcluded && !excludesEverything) continue;
    if (written === undefined || host === undefined || more !== undefined) continue;
    if (written.startsWith("~")) {
      const namespace = namespaceOf(written.slice(1), ownNamespace);
      excluded.set(namespace, [...(excluded.get(namespace) ?? []), host]);
      continue;
    }
    const namespace = namespaceOf(written, ownNamespace);
    const entries = imports.get(namespace) ?? { exact: new Set(), all: [] };
    imports.set(namespace, entries);
    entries.all.push(host);
    if (!isWildcard(host)) entries.exact.add(host);
  }
  const isExcluded = (host: string, namespace: string): boolean =>
    excluded.size > 0 &&
    [namespace, "*"].some((of) => excluded.get(of)?.some((pattern) => isSubsetHost(host, pattern)) ?? false);
  const entriesFor = (host: string, namespace: string, matches: Match): Imports | undefined =>
    isExcluded(host, namespace)
      ? undefined
      : [imports.get(namespace), imports.get("*")].find((of) => matchesImports(of, host, matches));
  return {
    importing: (hostname, namespace) => {
      const entries = entriesFor(hostname, namespace, isSubsetHost);
      if (entries === undefined) return undefined;
      // An alias is asked about once its service is imported: exclusions are about services.
      return (host) => matchesImports(entries, host, isSubsetHost);
    },
    importsVirtualServiceHost: (host, namespace, covered) =>
      entriesFor(host, namespace, covered ? isSubsetHost : hostsOverlap) !== undefined,
    everything: excluded.size === 0 && imports.size === 1 && (imports.get("*")?.all.includes("*") ?? false),
  };
}

type Match = (host: string, pattern: string) => boolean;

function namespaceOf(written: string, ownNamespace: string): string {
  if (written === ".") return ownNamespace;
  return written === "" ? "*" : written;
}

function matchesImports(imports: Imports | undefined, host: string, matches: Match): boolean {
  if (imports === undefined) return false;
  if (imports.exact.has(host)) return true;
  return imports.all.some((pattern) => (isWildcard(host) || isWildcard(pattern)) && matches(host, pattern));
}
