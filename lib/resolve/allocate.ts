/**
 * Addresses for hosts that have none. A host's address follows from its name, as in Istio before its controller gave them in the order in
 * which entries came; where two names come to one address, who has it keeps it, and the other one gets the next that is free.
 *
 * @see istio 1.30.3 pilot/pkg/serviceregistry/serviceentry, autoAllocateIPs
 */

/** Addresses in the range: 255 times 255, without those that end with 0. */
const places = 65_024;
/** A prime below it, so that steps from any place lead to every other one. */
const stepPrime = 65_011;

/** `namespace/host` → place, from 0. */
export type Allocation = ReadonlyMap<string, number>;

/** So many places are tried for a service: far more than are needed while the range is not nearly full. */
const maxAttempts = 1_024;

/**
 * The places of before, and one for each service that has none yet. Where none is found a service gets none.
 *
 * @param wanted in the order in which they choose
 * @param taken addresses that others have
 */
export function allocate(before: Allocation, wanted: readonly string[], taken: readonly string[]): Allocation {
  // Two places may share an address of IPv6, whose parts are written without zeros before them.
  const isTaken = new Set([
    ...taken.map((address) => address.toLowerCase()),
    ...[...before.values()].flatMap(addressesAt),
  ]);
  const after = new Map(before);
  for (const service of wanted) {
    if (after.has(service)) continue;
    const place = firstFree(service, isTaken);
    if (place === undefined) continue;
    for (const address of addressesAt(place)) isTaken.add(address);
    after.set(service, place);
  }
  return after;
}

function firstFree(service: string, isTaken: ReadonlySet<string>): number | undefined {
  const hash = fnv1a(service);
  const pace = stepPrime - (hash % stepPrime);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const place = attempt === 0 ? hash % places : ((hash + attempt * pace) >>> 0) % (places - 1);
    if (hasAddress(place) && addressesAt(place).every((address) => !isTaken.has(address))) return place;
  }
  return undefined;
}

/** No address ends with 0. */
const hasAddress = (place: number): boolean => (place + 1) % 255 !== 0;

/** One of IPv4 out of 240.240.0.0/16, one of IPv6 out of 2001:2::/48. */
export function addressesAt(place: number): readonly [string, string] {
  const [third, fourth] = [Math.floor((place + 1) / 255), (place + 1) % 255];
  return [`240.240.${third}.${fourth}`, `2001:2::f0f0:${third === 0 ? "" : third.toString(16)}${fourth.toString(16)}`];
}

/** FNV-1a of 32 bits over the bytes in UTF-8. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
