/**
 * What only a network can tell. The compiler asks no network: a root says what is wanted, a resolver looks it up, and what
 * it found is input like any other.
 * @see docs/network-inputs.md
 */
import type { ResolvedModule, WantedModule } from "./wasm-module.ts";

/** The source that a resolver fills, and nobody else. */
export const resolvedSource = "resolved";

/** What a world wants a resolver to look up, or to give; the newest root has it as its `Lookups`, list by list. */
export interface WantedLookups {
  /** URLs of JSON Web Key Sets. */
  readonly jwksUris?: readonly string[];
  /** Issuers whose key sets are found by OpenID Connect discovery. */
  readonly issuers?: readonly string[];
  /** Hosts of ServiceEntries without addresses, as `namespace/host`. */
  readonly services?: readonly string[];
  /** Addresses that others have out of the ranges that such hosts are given theirs from. */
  readonly taken?: readonly string[];
  /** Host names of network gateways, whose addresses DNS knows. */
  readonly hosts?: readonly string[];
  /** Modules of Wasm. */
  readonly modules?: readonly WantedModule[];
  /** SHA-256 of all modules that were fetched: what names them in the store, they stay there. */
  readonly heldModules?: readonly string[];
}

/** A JSON Web Key Set, by the URL it was read from or by the issuer that named its URL. */
export type ResolvedJwks = { readonly jwks: string } & ({ readonly jwksUri: string } | { readonly issuer: string });

/** Addresses that were given to a host of a ServiceEntry that has none. */
export interface AllocatedAddresses {
  /** `namespace/host`. */
  readonly service: string;
  readonly addresses: readonly string[];
}

/**
 * Addresses that DNS has for a host. How long they count is no part of it: a name server that caches answers another time for each
 * question, and that is no change.
 */
export interface HostAddresses {
  readonly host: string;
  /** Of IPv4 and IPv6, sorted. */
  readonly addresses: readonly string[];
}

/** What was looked up, and given. */
export interface ResolvedFacts {
  readonly jwks?: readonly ResolvedJwks[];
  readonly addresses?: readonly AllocatedAddresses[];
  readonly hosts?: readonly HostAddresses[];
  readonly modules?: readonly ResolvedModule[];
}
