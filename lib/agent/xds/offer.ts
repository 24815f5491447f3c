import type { CompiledResource } from "../../snapshot/compiled.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";

/** A resource as Envoy is sent it. */
export interface LocalResource extends CompiledResource {
  /** Its binary form's hash: an Envoy that connects again says which of them it has. */
  readonly version: string;
  readonly binary: Uint8Array<ArrayBuffer>;
  /** The JSON that it was made from; undefined for what stands in the place of a resource that is named and does not exist. */
  readonly source: string | undefined;
}

/** Resources by name. */
export type LocalResources = ReadonlyMap<string, LocalResource>;

/** All that Envoy is to have. */
export type Offer = Readonly<Record<CoreType, LocalResources>>;

/** @param make the resources of each type */
export const offerOf = (make: (type: CoreType) => LocalResources): Offer => ({
  clusters: make("clusters"),
  endpoints: make("endpoints"),
  listeners: make("listeners"),
  routes: make("routes"),
});

/** Whether an offer has clusters or listeners: an Envoy is not started with nothing. */
export const isEmpty = ({ clusters, listeners }: Offer): boolean => clusters.size === 0 && listeners.size === 0;

export const isSameOffer = (a: Offer, b: Offer): boolean =>
  a === b || coreTypes.every((type) => isSame(a[type], b[type]));

export function isSame(a: LocalResources, b: LocalResources): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, { version }] of a) if (b.get(name)?.version !== version) return false;
  return true;
}

/** Resources of both; those of the second count where both have one. The second itself where the first has nothing more. */
export function united(first: LocalResources, second: LocalResources): LocalResources {
  for (const name of first.keys()) if (!second.has(name)) return new Map([...first, ...second]);
  return second;
}
