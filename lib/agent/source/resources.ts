import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import type { CompiledResource } from "../../snapshot/compiled.ts";
import { chunkListsOf } from "../../snapshot/long/chunk-lists.ts";
import { textChunk } from "../../snapshot/long/long-resource.ts";
import { versionOfText } from "../../snapshot/long/version-of-text.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { type TreeEncoder, versionOfTree } from "../../snapshot/worlds/encode-tree.ts";

/** A resource as the compiler wrote it. */
export type HeldResource = CompiledResource;

/** All resources of one type that are meant for the node. */
export interface Holding {
  /** Covers names and texts of all, as it goes over the wire. */
  readonly version: string;
  /** By which the front that sent it knows it again; absent for what came from elsewhere. */
  readonly nonce?: string;
  readonly resources: ReadonlyMap<string, HeldResource>;
}

/** What an agent may hold: what its Envoy reads, and the names that it answers DNS from itself. */
export type HeldType = CoreType | "name_tables";

/** By type; what was never fetched is not there. */
export type Holdings = Partial<Readonly<Record<HeldType, Holding>>>;

/** All that an Envoy reads, and names where they are followed. */
export type WholeHoldings = Holdings & Readonly<Record<CoreType, Holding>>;

/** The types that are followed. @param withNames whether names are */
export const heldTypes = (withNames: boolean): readonly HeldType[] =>
  withNames ? [...coreTypes, "name_tables"] : coreTypes;

/** A DeltaDiscoveryResponse, as far as it is read. */
export interface Delta {
  readonly version: string;
  readonly nonce: string | undefined;
  readonly changed: readonly { readonly name: string; readonly text: string }[];
  readonly removed: readonly string[];
}

/**
 * What there is after a delta. Nothing of it is believed: every text is hashed, and all together have to have the version that the
 * delta names, so that half an answer, or a damaged one, is no answer.
 *
 * @throws PortolanError for a delta that does not lead where it says
 */
export function applyDelta(
  type: HeldType,
  before: Holding | undefined,
  delta: Delta,
  encodeTree: TreeEncoder,
): Holding {
  const resources = new Map(before?.resources);
  for (const name of delta.removed) resources.delete(name);
  for (const { name, text } of delta.changed) resources.set(name, heldResource(type, name, text));
  const holding = holdingOf([...resources.values()], encodeTree);
  const { nonce } = delta;
  if (holding.version === delta.version) return nonce === undefined ? holding : { ...holding, nonce };
  throw new PortolanError(
    `an answer about ${type} does not come to the version that it names, ${delta.version}: it is left out`,
  );
}

/** A resource with the version that it has by its text alone. */
export function heldResource(type: HeldType, name: string, text: string): HeldResource {
  const { version, isLong } = versionOfText(type, text);
  const resource: HeldResource = { name, version, text, from: [] };
  // Where segments end depends on which resources are long, and not on how those are cut. Written as a member of the literal,
  // so that the type check refuses a name that `hasChunks` does not read.
  return isLong ? { ...resource, runLists: chunkListsOf([textChunk(text)]) } : resource;
}

/** @param resources in any order, names unique */
export function holdingOf(resources: readonly HeldResource[], encodeTree: TreeEncoder): Holding {
  const sorted = resources.toSorted((a, b) => byCodePoint(a.name, b.name));
  const version = versionOfTree(encodeTree(sorted.length === 0 ? [] : [sorted]));
  return {
    version: wireVersion(version),
    resources: new Map(sorted.map((resource) => [resource.name, resource])),
  };
}

/** Whether every type that is followed was fetched. */
export function isWhole(holdings: Holdings, types: readonly HeldType[]): holdings is WholeHoldings {
  return coreTypes.every((type) => holdings[type] !== undefined) && types.every((type) => holdings[type] !== undefined);
}

/** The versions of all types that are followed, as one text. */
export const versionsIn = (holdings: WholeHoldings, types: readonly HeldType[]): string =>
  types.map((type) => holdings[type]?.version).join();
