/** Addresses given to a host that states none. */
export interface AllocatedAddresses {
  readonly v4: string;
  readonly v6: string;
}

/** 256 × 254: of each third octet the fourth octets 0 and 255 are left out. */
const slotCount = 65_024;
/** The largest prime below it, for the second hash. */
const prime = 65_011;

/** 32-bit FNV-1a of the UTF-8 bytes. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function freeSlot(key: string, slots: readonly (string | undefined)[]): number | undefined {
  const hash = fnv1a(key);
  const first = hash % slotCount;
  if (slots[first] === undefined) return first;
  const step = prime - (hash % prime);
  for (let attempt = 1; attempt <= slotCount; attempt += 1) {
    const slot = ((hash + Math.imul(attempt, step)) >>> 0) % (slotCount - 1);
    if (slots[slot] === undefined) return slot;
  }
  return undefined;
}

/**
 * Gives each key an IPv4 address in 240.240.0.0/16 and an IPv6 address in 2001:2::/48 by hashing it, so that every
 * replica that knows the same services gives the same ones. Where two keys collide the earlier keeps its place.
 *
 * @param keys `namespace/hostname` in the order of creation; repeated keys count once
 * @returns no entry for keys that found no place, which takes more than 65,024 of them
 * @see docs/how-istio-does-it/service-entries.md#automatic-addresses
 */
export function allocateAddresses(keys: Iterable<string>): ReadonlyMap<string, AllocatedAddresses> {
  const slots = new Array<string | undefined>(slotCount).fill(undefined);
  for (const key of new Set(keys)) {
    const slot = freeSlot(key, slots);
    if (slot !== undefined) slots[slot] = key;
  }
  const allocated = new Map<string, AllocatedAddresses>();
  let count = 0;
  for (const key of slots) {
    count += 1;
    if (key === undefined) continue;
    if (count % 255 === 0) count += 1;
    const third = Math.floor(count / 255);
    const fourth = count % 255;
    const high = third === 0 ? "" : third.toString(16);
    allocated.set(key, { v4: `240.240.${third}.${fourth}`, v6: `2001:2::f0f0:${high}${fourth.toString(16)}` });
  }
  return allocated;
}
