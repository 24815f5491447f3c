import { PortolanError, unreachable } from "../base/diagnostic.ts";
import type { SecretKey } from "./secret-name.ts";

/** A data key as it is stored: nobody reads it who cannot use the key that it names. */
export interface WrappedKey {
  readonly id: string;
  /** Base64. */
  readonly wrapped: string;
}

/** What a wrapping key makes of a wrapped data key. */
export type Unwrapped =
  | { readonly kind: "opened"; readonly dataKey: Uint8Array<ArrayBuffer> }
  /** Another key wrapped it. */
  | { readonly kind: "foreign" }
  /** It will not be opened until somebody changes something: a permission, the key, what is stored. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody knows for the moment. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** A key that data keys are wrapped with: in the environment, or with a key management service, which never lets it out. */
export interface WrappingKey {
  /**
   * @param secret that the data key seals: a service that can binds the one to the other
   * @throws PortolanError when a service does not do it
   */
  wrap(dataKey: Uint8Array<ArrayBuffer>, secret: SecretKey): Promise<WrappedKey>;
  unwrap(key: WrappedKey, secret: SecretKey): Promise<Unwrapped>;
}

/** All wrapping keys that there are here: the first wraps, each unwraps what it wrapped. */
export interface KeyWrapper {
  /** @throws PortolanError when a service does not do it */
  wrap(dataKey: Uint8Array<ArrayBuffer>, secret: SecretKey): Promise<WrappedKey>;
  /** @throws PortolanError when no key here wrapped it for this secret, or a service does not open it */
  unwrap(key: WrappedKey, secret: SecretKey): Promise<Uint8Array<ArrayBuffer>>;
}

/** @param name of the setting that names the keys, for messages */
export function keyWrapper(name: string, first: WrappingKey, others: readonly WrappingKey[]): KeyWrapper {
  return {
    wrap: first.wrap,
    async unwrap(key, secret) {
      let failure: string | undefined;
      for (const one of [first, ...others]) {
        const unwrapped = await one.unwrap(key, secret);
        switch (unwrapped.kind) {
          case "opened":
            return unwrapped.dataKey;
          case "foreign":
            break;
          case "refused":
          case "unavailable":
            // The other key may be the one.
            failure ??= unwrapped.reason;
            break;
          default:
            return unreachable(unwrapped);
        }
      }
      throw new PortolanError(failure ?? `${name} does not hold the key ${key.id}`);
    },
  };
}
