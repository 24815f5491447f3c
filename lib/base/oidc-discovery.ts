/** What an issuer states of itself. @see https://openid.net/specs/openid-connect-discovery-1_0.html */
import { isFields, jsonIn } from "./untyped.ts";

/** A document has a few KiB. */
export const maxDiscoveryBytes = 256 * 1024;

/** Where an issuer has its document. */
export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

/** The parts of a document that are read. */
export interface DiscoveryDocument {
  readonly issuer: unknown;
  /** URL of the key set, as it is written. */
  readonly jwksUri: string;
}

/** @returns undefined for a text that is no document, or names no key set */
export function readDiscovery(text: string): DiscoveryDocument | undefined {
  const document = jsonIn(text);
  if (!isFields(document) || typeof document.jwks_uri !== "string") return undefined;
  return { issuer: document.issuer, jwksUri: document.jwks_uri };
}
