import type { Config } from "../config/config.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import { fullHostName } from "../config/values/host-name.ts";
import type { Labels } from "../config/values/labels.ts";

/** A host of the registry, as far as files tell of it. */
export interface KnownHost {
  readonly host: string;
  /** Namespaces that see it; `*` for all. */
  readonly scopes: readonly string[];
  readonly ports: readonly number[];
}

/** A host that every namespace sees. */
export type OtherHost = Omit<KnownHost, "scopes">;

/** A Kubernetes service, as far as hosts go. */
interface HostedService {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Labels;
  readonly ports: readonly { readonly port: number }[];
}

export interface KnownHosts {
  /**
   * The host that a name means when a rule of the namespace mentions it.
   * @see docs/how-istio-does-it/analysis.md#known-hosts
   */
  find(name: string, namespace: string): KnownHost | undefined;
}

/** The full name of a host that an object mentions, in the default domain: files do not say the mesh's. */
export const fullHost = (name: string, namespace: string): string => fullHostName(name, namespace, "cluster.local");

export function knownHosts(
  services: readonly HostedService[],
  entries: readonly Config<ServiceEntry>[],
  mesh: MeshConfig,
  others: readonly OtherHost[] = [],
): KnownHosts {
  const hosts: KnownHost[] = others.map((other) => ({ ...other, scopes: ["*"] }));
  for (const service of services) {
    const exportTo = service.annotations["networking.istio.io/exportTo"]?.split(",").map((scope) => scope.trim());
    hosts.push({
      host: fullHost(service.name, service.namespace),
      scopes: scopesOf(exportTo ?? mesh.defaultServiceExportTo, service.namespace),
      ports: service.ports.map(({ port }) => port),
    });
  }
  for (const { spec, meta } of entries) {
    for (const host of spec.hosts) {
      hosts.push({
        // Names in rules are completed, and an entry's host is not: nothing but its address leads to one without a dot.
        host,
        scopes: scopesOf(spec.exportTo ?? mesh.defaultServiceExportTo, meta.namespace),
        ports: (spec.ports ?? []).map(({ number }) => number),
      });
    }
  }
  const exact = Map.groupBy(hosts, ({ host }) => host);
  const wildcards = hosts.filter(({ host }) => host.startsWith("*"));
  const sees = (namespace: string) => (host: KnownHost) => host.scopes.includes("*") || host.scopes.includes(namespace);
  return {
    find(name, namespace) {
      const full = fullHost(name, namespace);
      return (
        exact.get(full)?.find(sees(namespace)) ??
        wildcards.filter(sees(namespace)).find(({ host }) => full.endsWith(host.slice(1)))
      );
    },
  };
}

function scopesOf(exportTo: readonly string[], namespace: string): readonly string[] {
  return exportTo.filter((scope) => scope !== "~").map((scope) => (scope === "." ? namespace : scope));
}
