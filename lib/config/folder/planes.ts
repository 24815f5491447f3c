/**
 * The two planes of what a source holds. Registry: what runs where, which changes by itself as pods come and go. Configuration: how
 * traffic is treated, which somebody writes. A rollback, a pin and a canary are about configuration alone.
 */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { kubernetesKindOf } from "../kubernetes/kinds.ts";
import type { LoadedDirectory } from "./directory.ts";

/** Istio's kinds that say what runs where: Istio has them among its registries, too. */
const registryKinds: ReadonlySet<string> = new Set(["ServiceEntry", "WorkloadEntry", "WorkloadGroup"]);

/** Whether objects of a kind belong to the registry: Kubernetes' own kinds, and three of Istio's. Ingress is configuration. */
export const isRegistryKind = (group: string, kind: string): boolean =>
  registryKinds.has(kind) || kubernetesKindOf(group, kind) !== undefined;

/** Groups whose kinds are written without them in keys. */
const plainGroups = ["", "networking.k8s.io", "discovery.k8s.io"];

/** The same of an object, by its key as `keyText` writes it. */
export function isRegistryKey(key: string): boolean {
  const [kind = "", ...group] = key.slice(0, key.indexOf("/")).split(".");
  return (group.length === 0 ? plainGroups : [group.join(".")]).some((one) => isRegistryKind(one, kind));
}

/**
 * What a source says with its configuration as it was in another version.
 *
 * @param newest its registry counts
 * @param held its configuration counts; undefined: there was none
 */
export function withConfigurationOf(newest: LoadedDirectory, held: LoadedDirectory): LoadedDirectory {
  // What was looked up is as it is now, like what runs: a rollback must not bring back keys that were withdrawn.
  const { endpoints, proxies, resolved } = newest.settings;
  const { proxies: _proxies, resolved: _resolved, ...configuration } = held.settings;
  const { unusableSettings } = held;
  return {
    configs: [
      ...held.configs.filter(({ meta }) => !isRegistryKind(meta.group, meta.kind)),
      ...newest.configs.filter(({ meta }) => isRegistryKind(meta.group, meta.kind)),
    ],
    objects: newest.objects,
    others: held.others,
    closed: held.closed,
    clusters: newest.clusters,
    meshConfig: held.meshConfig,
    meshNetworks: held.meshNetworks,
    settings: {
      ...configuration,
      endpoints,
      ...(proxies === undefined ? {} : { proxies }),
      ...(resolved === undefined ? {} : { resolved }),
    },
    ...(unusableSettings === undefined ? {} : { unusableSettings }),
    diagnostics: [
      ...held.diagnostics.filter(isOfConfiguration),
      ...newest.diagnostics.filter((diagnostic) => !isOfConfiguration(diagnostic)),
    ],
  };
}

/** Whether two versions of a source have the same registry, wherever its objects stand. */
export function sameRegistry(a: LoadedDirectory, b: LoadedDirectory): boolean {
  const others = ({ settings, clusters }: LoadedDirectory) =>
    JSON.stringify([settings.endpoints, settings.proxies, settings.resolved, clusters.map(({ id }) => id)]);
  return (
    others(a) === others(b) &&
    sameObjects(a.objects, b.objects) &&
    sameObjects(registryConfigs(a), registryConfigs(b)) &&
    a.clusters.every(({ objects }, at) => sameObjects(objects, b.clusters[at]?.objects ?? []))
  );
}

const registryConfigs = ({ configs }: LoadedDirectory) =>
  configs.filter(({ meta }) => isRegistryKind(meta.group, meta.kind));

const sameObjects = (a: readonly object[], b: readonly object[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at] || withoutPlace(one) === withoutPlace(b[at] ?? {}));

const withoutPlace = (object: object): string => JSON.stringify({ ...object, origin: undefined });

/** What is said of a whole file is said of the newest. */
const isOfConfiguration = ({ origin: { key } }: Diagnostic): boolean =>
  key.kind !== "" && !isRegistryKind(key.group, key.kind);
