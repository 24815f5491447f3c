/** Code of Wasm extensions that a resolver fetches, for Envoys that cannot do it. */

/** A module that configuration wants. */
export interface WantedModule {
  /** `https://`, `http://` or `oci://`. */
  readonly url: string;
  /** SHA-256 that it must have, lower-case hex. */
  readonly sha256?: string;
  /** `namespace/name` of the Secret with the registry's credentials. */
  readonly pullSecret?: string;
  /** Whether the URL is asked again for a newer one; absent: what was fetched once stays. */
  readonly always?: true;
}

/** A module that was fetched. */
export interface ResolvedModule {
  /** Which: `moduleName` of what was wanted. */
  readonly of: string;
  /** SHA-256 of the module, lower-case hex, which is the name of its blob in the store. */
  readonly sha256: string;
}

/** What tells one wanted module from another: a private image that one namespace may pull is none that another one has. */
export const moduleName = ({ url, sha256, pullSecret, always }: WantedModule): string =>
  [
    url,
    ...(sha256 === undefined ? [] : [`sha256=${sha256}`]),
    ...(pullSecret === undefined ? [] : [`imagePullSecret=${pullSecret}`]),
    ...(always === undefined ? [] : ["imagePullPolicy=Always"]),
  ].join(" ");

/** Of a module, in bytes. */
export const maxModuleBytes = 64 * 1024 * 1024;
