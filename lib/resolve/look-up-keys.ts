import { PortolanError } from "../base/diagnostic.ts";
import { discoveryUrl, maxDiscoveryBytes, readDiscovery } from "../base/oidc-discovery.ts";
import type { FetchedText, TextRequest } from "./fetch-text.ts";
import { maxKeySetBytes, readKeySet } from "./key-set.ts";

/** Where a key set is: at a URL, or at the one that an issuer's discovery document names. */
export type KeyLookup = { readonly jwksUri: string } | { readonly issuer: string };

/** What is known of a key set. */
export interface KeyState {
  /** The key set in force; absent: none was ever read. */
  readonly jwks?: string;
  /** Names the text that was read last. */
  readonly etag?: string;
}

/**
 * Reads a key set, by its tag.
 *
 * @throws PortolanError for an answer that holds no key that can be used
 */
export async function lookUpKeys(
  lookup: KeyLookup,
  before: KeyState,
  read: (request: TextRequest) => Promise<FetchedText>,
): Promise<KeyState & { readonly problem?: string }> {
  const url = "jwksUri" in lookup ? lookup.jwksUri : await discoveredUri(lookup.issuer, read);
  const fetched = await read({ url, maxBytes: maxKeySetBytes, etag: before.etag });
  if (fetched.kind === "unchanged") return before;
  const set = await readKeySet(fetched.text);
  if (set.kind === "unusable") throw new PortolanError(`${url}: ${set.reason}`);
  return {
    jwks: set.jwks,
    ...(fetched.etag === undefined ? {} : { etag: fetched.etag }),
    ...(set.left.length === 0 ? {} : { problem: `${url}: ${set.left.join("; ")}` }),
  };
}

async function discoveredUri(issuer: string, read: (request: TextRequest) => Promise<FetchedText>): Promise<string> {
  const url = discoveryUrl(issuer);
  const fetched = await read({ url, maxBytes: maxDiscoveryBytes });
  const document = fetched.kind === "text" ? readDiscovery(fetched.text) : undefined;
  if (document === undefined) throw new PortolanError(`${url} is no discovery document: it names no jwks_uri`);
  return document.jwksUri;
}
