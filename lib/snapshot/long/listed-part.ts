import { hashOf } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ListedLong, LongRef, Part, PartList, SegmentRef } from "../root.ts";

/** What refers to a long resource, which is a segment by itself. */
export function longSegment(name: string, bodyBytes: number, long: LongRef): SegmentRef {
  const hash = hashOf(JSON.stringify([name, long]));
  return { hash, first: name, last: name, resources: 1, bodyOffset: 0, bodyBytes, long };
}

/** What a part's resources are called and are, as one hash. */
export const contentOf = (resources: readonly { readonly name: string; readonly version: string }[]): string =>
  hashOf(resources.map(({ name, version }) => `${version} ${name}\n`).join(""));

/** What is to be said of a part that is one long resource: all else follows from it. */
export interface LongPart extends LongRef {
  readonly name: string;
  readonly bodyBytes: number;
}

/** @returns undefined for a part that is anything else */
export function longPart(part: Part): LongPart | undefined {
  if (!("segment" in part) || part.segment.long === undefined) return undefined;
  const { first: name, bodyBytes, long } = part.segment;
  return { name, bodyBytes, ...long };
}

/** A part of a list, and its JSON. */
interface PartOfList {
  readonly text: string;
  readonly long: LongPart | undefined;
}

/**
 * A `PartList`. Each namespace has route tables of its own, which have nearly all in common, and a change of that lists them all anew: so of long
 * resources it has no more than it must, and each hash once.
 */
export function partListText(parts: readonly PartOfList[]): string {
  const numbers = new Map<string, number>();
  const numberOf = (hash: string): number => {
    const number = numbers.get(hash) ?? numbers.size;
    numbers.set(hash, number);
    return number;
  };
  const texts = parts.map(({ text, long }) => {
    if (long === undefined) return text;
    const numbered = { ...long, lists: long.lists.map(numberOf), from: long.from.map(numberOf) };
    return JSON.stringify({ long: numbered } satisfies ListedLong);
  });
  const hashes = numbers.size === 0 ? "" : `"hashes":${JSON.stringify([...numbers.keys()])},`;
  return `{${hashes}"parts":[${texts.join()}]}`;
}

/** About so long is a long resource in such a list, in UTF-16 code units. */
export const listedLongLength = 200;

/**
 * @param text of a `PartList` of this version or of an earlier one
 * @throws PortolanError for one in which a hash is missing
 */
export function partsIn(text: string): readonly Part[] {
  const { parts, hashes = [] }: PartList = JSON.parse(text);
  const hashAt = (number: number): string => {
    const hash = hashes[number];
    if (hash === undefined)
      throw new PortolanError(`a list of parts has no hash ${number}, which one of its parts names`);
    return hash;
  };
  return parts.map((part) => {
    if (!("long" in part)) return part;
    const { name, bodyBytes, version, lists, from } = part.long;
    const segment = longSegment(name, bodyBytes, { version, lists: lists.map(hashAt), from: from.map(hashAt) });
    return { segment, content: contentOf([{ name, version }]) };
  });
}
