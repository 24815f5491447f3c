import { factsFile, storedText } from "../compile/resolved/stored-facts.ts";
import { writeShard } from "../compile/shards/write-shard.ts";
import { type ResolvedFacts, type ResolvedJwks, resolvedSource } from "../config/kinds/resolved-facts.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { type Allocation, addressesAt } from "./allocate.ts";
import { allocationIn } from "./allocation-state.ts";
import { lookupPlace } from "./lookup-name.ts";
import { type LookupState, type ResolverState, readState } from "./resolver-state.ts";

/** The keys of all issuers together, in characters. */
const maxKeysLength = 6 * 1024 * 1024;

const maxAttempts = 4;

/**
 * Fills the source with what is stored of look-ups and addresses. It is read again after it was written: of two that write at once both end
 * with what was stored last.
 *
 * @returns the source's version
 */
export async function fillSource(store: ObjectStore): Promise<string> {
  let version = "";
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const [{ state }, allocation] = await Promise.all([readState(store), allocationIn(store)]);
    const text = factsText(state, allocation);
    const held = await storedText(store);
    if (held?.text === text) return held.version;
    version = await writeShard(store, resolvedSource, [{ file: factsFile, text }], { allowEmpty: true });
  }
  return version;
}

/** What the source's file says; JSON is YAML. */
export function factsText(state: ResolverState, allocation: Allocation): string {
  const jwks = keysOf(state);
  const addresses = [...allocation]
    .map(([service, place]) => ({ service, addresses: addressesAt(place) }))
    .sort((a, b) => (a.service < b.service ? -1 : 1));
  const hosts = factsIn(state, (of, { addresses = [] }) =>
    addresses.length === 0 ? undefined : { host: of, addresses },
  );
  const modules = factsIn(state, (of, { sha256 }) => (sha256 === undefined ? undefined : { of, sha256 }));
  const resolved: ResolvedFacts = {
    ...(jwks.length === 0 ? {} : { jwks }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(hosts.length === 0 ? {} : { hosts }),
    ...(modules.length === 0 ? {} : { modules }),
  };
  return `${JSON.stringify(Object.keys(resolved).length === 0 ? {} : { resolved })}\n`;
}

/** What was found, of look-ups that have found something of a kind. */
const factsIn = <Fact>(
  state: ResolverState,
  factOf: (place: string, found: LookupState) => Fact | undefined,
): readonly Fact[] => [...state].flatMap(([name, found]) => factOf(lookupPlace(name), found) ?? []);

/** Sets that are wanted come first; all of them fit, since each is bounded and so are they. */
function keysOf(state: ResolverState): readonly ResolvedJwks[] {
  const found = [...state].flatMap(([name, { jwks, sinceMs }]) =>
    jwks === undefined ? [] : [{ name, jwks, isWanted: sinceMs !== undefined }],
  );
  let length = 0;
  const kept = [...found.filter(({ isWanted }) => isWanted), ...found.filter(({ isWanted }) => !isWanted)].filter(
    ({ jwks }) => {
      length += jwks.length;
      return length <= maxKeysLength;
    },
  );
  const isKept = new Set(kept);
  return found
    .filter((one) => isKept.has(one))
    .map(({ name, jwks }): ResolvedJwks => {
      const place = lookupPlace(name);
      return name.startsWith("uri ") ? { jwksUri: place, jwks } : { issuer: place, jwks };
    });
}
