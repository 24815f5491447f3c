import { byCodePoint, type Diagnostic } from "../base/diagnostic.ts";
import type { Assembly } from "./assembly.ts";
import { type Changed, fromFormer, fromNothing, sameTerms } from "./changes/registry-changes.ts";
import type { NetworkGateway } from "./changes/registry-state.ts";
import { keepSame } from "./changes/same.ts";
import { joinEndpoints, modelKey } from "./join-endpoints.ts";
import { clusterDiagnostics } from "./kubernetes/cluster-diagnostics.ts";
import { networkGatewaysOf } from "./kubernetes/network-gateways.ts";
import { mergeServices } from "./merge-services.ts";
import type { RegistryInput } from "./registry-input.ts";
import type { Service } from "./service.ts";
import { entryDiagnostics } from "./service-entry/entry-index.ts";
import { listServices } from "./service-list.ts";

function joinServices(former: Assembly | undefined, changed: Changed, domain: string): Assembly["merged"] {
  const keys = new Set(changed.clusterDifferences.flatMap(({ services }) => [...services]));
  if (former !== undefined && !changed.complete && keys.size === 0) return former.merged;
  const merged = new Map(changed.complete ? undefined : former?.merged);
  for (const objectKey of keys) {
    const key = modelKey(objectKey, domain);
    const [first, ...others] = changed.clusters
      .map(({ index }) => index.services.get(objectKey)?.service)
      .filter((service) => service !== undefined);
    if (first === undefined) merged.delete(key);
    else merged.set(key, keepSame(former?.merged.get(key), mergeServices([first, ...others])));
  }
  return merged;
}

function allServices(merged: Assembly["merged"], changed: Changed): readonly Service[] {
  const all = [...merged.values()];
  for (const record of changed.entries.entries.values()) all.push(...record.services);
  for (const { services } of changed.others) all.push(...services);
  return all;
}

function byNetwork(a: NetworkGateway, b: NetworkGateway): number {
  return (
    byCodePoint(a.network, b.network) ||
    byCodePoint(a.clusterId, b.clusterId) ||
    byCodePoint(a.address, b.address) ||
    a.port - b.port
  );
}

function joinGateways(former: Assembly | undefined, changed: Changed): readonly NetworkGateway[] {
  if (
    former !== undefined &&
    !changed.complete &&
    changed.clusterDifferences.every(({ services }) => services.size === 0)
  ) {
    return former.networkGateways;
  }
  const gateways = changed.clusters.flatMap(({ index }) =>
    [...index.services.values()].flatMap(({ service }) => networkGatewaysOf(service, index.settings)),
  );
  return keepSame(former?.networkGateways, gateways.sort(byNetwork));
}

function diagnosticsOf(changed: Changed): readonly Diagnostic[] {
  return [...entryDiagnostics(changed.entries), ...changed.clusters.flatMap(({ index }) => clusterDiagnostics(index))];
}

/**
 * Joins all registries of the input. With the assembly before it, costs what differs between the two inputs, and
 * every service and endpoint list that comes out equal is the very same object as before.
 */
export function assemble(input: RegistryInput, former: Assembly | undefined): Assembly {
  const changed =
    former !== undefined && sameTerms(former.input, input) ? fromFormer(input, former) : fromNothing(input, former);
  const merged = joinServices(former, changed, input.domain);
  const sameServices =
    former !== undefined &&
    merged === former.merged &&
    !changed.complete &&
    changed.entryDifference.entries.length === 0 &&
    changed.changedOthers.length === 0;
  const list = sameServices
    ? former
    : listServices(allServices(merged, changed), input.addressAllocation ?? "status", former);
  const same = former !== undefined && sameItemsByIdentity(list.services, former.services);
  return {
    input,
    clusters: changed.clusters,
    configs: input.configs,
    entries: changed.entries,
    others: changed.others,
    merged,
    services: same ? former.services : list.services,
    completed: list.completed,
    endpoints: joinEndpoints(former, changed, input.domain),
    networkGateways: joinGateways(former, changed),
    diagnostics: diagnosticsOf(changed),
  };
}

function sameItemsByIdentity<T>(a: readonly T[], b: readonly T[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}
