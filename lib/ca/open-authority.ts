import { type KeyServices, wrappingKeys } from "../secrets/wrapping-keys.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { authorityStore } from "./authority-store.ts";
import { type CertificateAuthority, certificateAuthority } from "./certificate-authority.ts";
import { neededSecretsKey } from "./secrets-key.ts";

/** The settings of a CA. */
export interface AuthoritySetting {
  readonly store: ObjectStore;
  /** The setting that names the keys which seal it. */
  readonly secretsKey: string | undefined;
  /** Longest validity of a certificate. */
  readonly maxHours: number | undefined;
  readonly services?: KeyServices;
  readonly onError: (cause: unknown) => void;
}

/** @throws PortolanError without a key, and for a key that is none */
export function openAuthority({
  store,
  secretsKey,
  maxHours,
  services,
  onError,
}: AuthoritySetting): CertificateAuthority {
  return certificateAuthority({
    services,
    stored: authorityStore(store, wrappingKeys(neededSecretsKey(secretsKey), "PORTOLAN_SECRETS_KEY", services)),
    now: Date.now,
    longestMs: maxHours === undefined ? undefined : maxHours * 3_600_000,
    onError,
  });
}
