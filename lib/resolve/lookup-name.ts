import { moduleName, type WantedModule } from "../config/kinds/wasm-module.ts";
import type { KeyLookup } from "./look-up-keys.ts";

/** What is to be looked up: a key set, the addresses of a host, or a module of Wasm. */
export type Lookup = KeyLookup | { readonly host: string } | { readonly module: WantedModule };

/** In the order in which people read of them. */
export const lookupKinds = ["jwks", "host", "module"] as const;

export type LookupKind = (typeof lookupKinds)[number];

/** What a look-up is stored by, and called in messages. */
export function lookupName(lookup: Lookup): string {
  if ("host" in lookup) return `host ${lookup.host}`;
  if ("module" in lookup) return `module ${moduleName(lookup.module)}`;
  return "jwksUri" in lookup ? `uri ${lookup.jwksUri}` : `issuer ${lookup.issuer}`;
}

/** The URL, issuer or host of a look-up, by its name; of a module with what else tells it from others. */
export const lookupPlace = (name: string): string => name.slice(name.indexOf(" ") + 1);

/** What a look-up finds, by its name. */
export const lookupKind = (name: string): LookupKind =>
  name.startsWith("host ") ? "host" : name.startsWith("module ") ? "module" : "jwks";

const texts: Readonly<Record<LookupKind, string>> = { jwks: "keys of", host: "addresses of", module: "the module" };

/** The same in words, with the place: `keys of <URL>`. */
export const lookupText = (name: string): string => `${texts[lookupKind(name)]} ${lookupPlace(name)}`;
