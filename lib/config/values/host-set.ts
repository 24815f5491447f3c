import { isWildcard } from "./host-name.ts";

/**
 * Hosts of one list, compared as `hostsOverlap` and `isSubsetHost` compare two of them. A host is looked up, and so is each of its
 * ends that is as long as some wildcard: the work follows the length of a host and not the number of hosts.
 */
export interface HostSet {
  /** The place of the first host that has a name in common with the one at a place: that place itself where no earlier one has. */
  firstOverlap(at: number): number;
  /** Whether one host of the list stands for every name that this one stands for. */
  covers(host: string): boolean;
}

export function createHostSet(hosts: readonly string[]): HostSet {
  /** Places in the list: of names, and of wildcards without their star. */
  const names = new Map<string, number>();
  const wildcards = new Map<string, number>();
  for (const [index, host] of hosts.entries()) {
    const [map, text] = isWildcard(host) ? [wildcards, host.slice(1)] : [names, host];
    if (!map.has(text)) map.set(text, index);
  }
  const lengths = [...new Set(Array.from(wildcards.keys(), (text) => text.length))];
  const endsOf = (text: string): readonly string[] =>
    lengths
      .filter((length) => length <= text.length)
      .map((length) => text.slice(text.length - length))
      .filter((end) => wildcards.has(end));
  /** Each wildcard's text → the first host that ends with it. */
  const firstEnding = new Map<string, number>();
  for (const [index, host] of hosts.entries()) {
    for (const end of endsOf(withoutStar(host))) if (!firstEnding.has(end)) firstEnding.set(end, index);
  }
  return {
    firstOverlap(at) {
      const host = hosts[at] ?? "";
      const text = withoutStar(host);
      const places = [
        isWildcard(host) ? firstEnding.get(text) : names.get(text),
        ...endsOf(text).map((end) => wildcards.get(end)),
      ].filter((place) => place !== undefined);
      return places.reduce((first, place) => Math.min(first, place), at);
    },
    covers: (host) => (!isWildcard(host) && names.has(host)) || endsOf(withoutStar(host)).length > 0,
  };
}

const withoutStar = (host: string): string => (isWildcard(host) ? host.slice(1) : host);
