import { byCodePoint } from "../../base/diagnostic.ts";
import { keepSameItems } from "../changes/same.ts";
import type { ShardedMap } from "../changes/sharded-map.ts";
import type { Endpoint } from "../service.ts";
import { type ClusterIndex, type ConvertedSlice, discovered, type SlicedService } from "./cluster-index.ts";
import {
  distinctEndpoints,
  endpointKey,
  type PodLookup,
  sliceEndpoints,
  slicePodReferences,
  sliceServiceName,
} from "./endpoint-slice.ts";
import { type KubernetesObject, objectKey, objectNamespace } from "./object.ts";
import { type KindChanges, noChanges } from "./object-changes.ts";
import { podEndpoints } from "./pods/pod-endpoints.ts";

/** The indexes of slices after a change. */
export interface SlicesUpdate {
  readonly slices: ShardedMap<readonly KubernetesObject[]>;
  readonly referrers: ShardedMap<readonly string[]>;
  /** Services whose slices are other than before. */
  readonly changed: ReadonlySet<string>;
}

/** Files the slices that came under their services, and under the pods that they name. */
export function updateSlices(index: ClusterIndex, changes: KindChanges): SlicesUpdate {
  const byService = new Map<string, Map<string, KubernetesObject>>();
  const slicesOf = (serviceKey: string): Map<string, KubernetesObject> => {
    let slices = byService.get(serviceKey);
    if (slices === undefined) {
      slices = new Map((index.slices.get(serviceKey) ?? []).map((slice) => [objectKey(slice), slice]));
      byService.set(serviceKey, slices);
    }
    return slices;
  };
  const serviceKeyOf = (slice: KubernetesObject): string | undefined => {
    const name = sliceServiceName(slice);
    return name === "" ? undefined : `${objectNamespace(slice)}/${name}`;
  };
  const { removed, added } = changes.get("EndpointSlice") ?? noChanges;
  for (const slice of removed) {
    const key = serviceKeyOf(slice);
    if (key !== undefined) slicesOf(key).delete(objectKey(slice));
  }
  for (const slice of added) {
    const key = serviceKeyOf(slice);
    if (key !== undefined && discovered(index, slice)) slicesOf(key).set(objectKey(slice), slice);
  }
  const written: [string, readonly KubernetesObject[] | undefined][] = [];
  const referrers = new Map<string, readonly string[] | undefined>();
  const referrersOf = (reference: string): readonly string[] =>
    (referrers.has(reference) ? referrers.get(reference) : index.referrers.get(reference)) ?? [];
  for (const [serviceKey, slices] of byService) {
    const before = new Set((index.slices.get(serviceKey) ?? []).flatMap(slicePodReferences));
    const after = new Set([...slices.values()].flatMap(slicePodReferences));
    for (const reference of before) {
      if (after.has(reference)) continue;
      const others = referrersOf(reference).filter((key) => key !== serviceKey);
      referrers.set(reference, others.length === 0 ? undefined : others);
    }
    // Nearly every pod is named by one service, so those of a service share one list.
    const alone = [serviceKey];
    for (const reference of after) {
      if (before.has(reference)) continue;
      const others = referrersOf(reference);
      referrers.set(reference, others.length === 0 ? alone : [...others, serviceKey]);
    }
    const sorted = [...slices.values()];
    if (sorted.length > 1) sorted.sort((a, b) => byCodePoint(objectKey(a), objectKey(b)));
    written.push([serviceKey, sorted.length === 0 ? undefined : sorted]);
  }
  return {
    slices: index.slices.with(written),
    referrers: index.referrers.with(referrers),
    changed: new Set(byService.keys()),
  };
}

function podLookup(index: ClusterIndex): PodLookup {
  return {
    byKey: (key) => index.pods.get(key),
    byAddress: (address, namespace) => {
      const pods = index.podsByAddress.get(address) ?? [];
      return pods.find((pod) => pod.workload.namespace === namespace) ?? pods[0];
    },
  };
}

/** One endpoint per address and port name, whatever the number of slices that hold it. */
function distinct(slices: readonly ConvertedSlice[]): readonly Endpoint[] {
  const [only] = slices;
  if (slices.length === 1 && only !== undefined) return only.endpoints;
  return distinctEndpoints(slices.flatMap(({ endpoints }) => endpoints));
}

/**
 * The endpoints of a service from its slices, or from its pods where it has none. A slice is converted anew only if it, its
 * service or one of its pods changed.
 *
 * @returns undefined where there is nothing to say
 */
export function convertSlices(
  index: ClusterIndex,
  serviceKey: string,
  changedPods: ReadonlySet<string>,
): SlicedService | undefined {
  const service = index.services.get(serviceKey);
  const slices = index.slices.get(serviceKey);
  if (service === undefined) return undefined;
  const before = index.sliced.get(serviceKey);
  if (slices === undefined) {
    const made = podEndpoints(index, service);
    if ([made.endpoints, made.unplaced, made.unusableHosts].every(({ length }) => length === 0)) return undefined;
    const endpoints = keepSameItems(before?.endpoints, made.endpoints, endpointKey);
    return { service, slices: [], unknownPods: [], ...made, endpoints };
  }
  const pods = podLookup(index);
  const unknownPods: string[] = [];
  const converted = slices.map((object): ConvertedSlice => {
    const same = before?.service === service ? before.slices.find((slice) => slice.object === object) : undefined;
    if (same !== undefined && before?.unknownPods.length === 0) {
      if (!slicePodReferences(object).some((reference) => changedPods.has(reference))) return same;
    }
    const made = sliceEndpoints(object, service.service, pods, index.settings);
    unknownPods.push(...made.unknownPods);
    const known = before?.slices.find((slice) => objectKey(slice.object) === objectKey(object));
    return { object, endpoints: keepSameItems(known?.endpoints, made.endpoints, endpointKey) };
  });
  const endpoints = keepSameItems(before?.endpoints, distinct(converted), endpointKey);
  const unknown = [...new Set(unknownPods)].sort();
  return { service, slices: converted, endpoints, unknownPods: unknown, unplaced: [], unusableHosts: [] };
}

/** The service as converted again, with the endpoint lists of before where they are equal. */
export function keepEndpoints(before: SlicedService | undefined, after: SlicedService): SlicedService {
  const slices = after.slices.map(({ object, endpoints }) => {
    const old = before?.slices.find((slice) => objectKey(slice.object) === objectKey(object));
    return { object, endpoints: keepSameItems(old?.endpoints, endpoints, endpointKey) };
  });
  const endpoints = slices.length === 0 ? after.endpoints : distinct(slices);
  return { ...after, slices, endpoints: keepSameItems(before?.endpoints, endpoints, endpointKey) };
}

/** The set of services that are not all known, after some services were converted. */
export function withIncomplete(
  incomplete: ReadonlySet<string>,
  sliced: readonly (readonly [string, SlicedService | undefined])[],
): ReadonlySet<string> {
  const now = (service: SlicedService | undefined): boolean =>
    service !== undefined &&
    [service.unknownPods, service.unplaced, service.unusableHosts].some(({ length }) => length > 0);
  if (sliced.every(([key, service]) => incomplete.has(key) === now(service))) return incomplete;
  const copy = new Set(incomplete);
  for (const [key, service] of sliced) {
    if (now(service)) copy.add(key);
    else copy.delete(key);
  }
  return copy;
}
