import { hostsOverlap, isSubsetHost, isWildcard } from "./host-name.ts";

/** What one egress listener imports from one namespace. @see model-push 4.4 */
interface Imports {
  readonly exact: Set<string>;
  readonly all: string[];
}

/** The host list of an egress listener, ready for questions. */
export interface HostImports {
  /** Is a service host of this namespace imported? Only by a host that covers all of it. */
  importsService(hostname: string, namespace: string): boolean;
  /**
   * Does a host of a virtual service of this namespace overlap an import?
   * @param covered true for objects with Gateway API semantics: the import must cover the whole host
   */
  importsVirtualServiceHost(host: string, namespace: string, covered: boolean): boolean;
  /** Defined when each import names one host of one namespace: `[namespace, host]`. */
  readonly exactOnly: readonly (readonly [string, string])[] | undefined;
  /** True when everything is imported: `*\/*` and no exclusion. */
  readonly everything: boolean;
}

/**
 * Reads `namespace/dnsName` entries: `*` for any namespace, `.` for the scope's own; `~` before the namespace excludes.
 * Entries of another form are passed over (validation has refused them).
 */
export function hostImports(hosts: readonly string[], ownNamespace: string): HostImports {
  const imports = new Map<string, Imports>();
  const excluded = new Map<string, string[]>();
  const exactOnly: (readonly [string, string])[] = [];
  let exact = true;
  for (const entry of hosts) {
    const [written, host, more] = entry.split("/");
    if (written === undefined || host === undefined || more !== undefined) continue;
    if (written.startsWith("~")) {
      const namespace = namespaceOf(written.slice(1), ownNamespace);
      excluded.set(namespace, [...(excluded.get(namespace) ?? []), host]);
      exact = false;
      continue;
    }
    const namespace = namespaceOf(written, ownNamespace);
    const entries = imports.get(namespace) ?? { exact: new Set(), all: [] };
    imports.set(namespace, entries);
    entries.all.push(host);
    if (isWildcard(host)) exact = false;
    else entries.exact.add(host);
    if (namespace === "*") exact = false;
    exactOnly.push([namespace, host]);
  }
  const isExcluded = (host: string, namespace: string): boolean =>
    excluded.size > 0 &&
    [namespace, "*"].some((of) => excluded.get(of)?.some((pattern) => isSubsetHost(host, pattern)) ?? false);
  const importsBy = (host: string, namespace: string, matches: (host: string, pattern: string) => boolean): boolean =>
    !isExcluded(host, namespace) &&
    (matchesImports(imports.get(namespace), host, matches) || matchesImports(imports.get("*"), host, matches));
  return {
    importsService: (hostname, namespace) => importsBy(hostname, namespace, isSubsetHost),
    importsVirtualServiceHost: (host, namespace, covered) =>
      importsBy(host, namespace, covered ? isSubsetHost : hostsOverlap),
    exactOnly: exact ? exactOnly : undefined,
    everything: excluded.size === 0 && (imports.get("*")?.all.includes("*") ?? false),
  };
}

function namespaceOf(written: string, ownNamespace: string): string {
  if (written === ".") return ownNamespace;
  return written === "" ? "*" : written;
}

function matchesImports(
  imports: Imports | undefined,
  host: string,
  matches: (host: string, pattern: string) => boolean,
): boolean {
  if (imports === undefined) return false;
  if (imports.exact.has(host)) return true;
  return imports.all.some((pattern) => (isWildcard(host) || isWildcard(pattern)) && matches(host, pattern));
}
