import { caSecretName, type SecretQuestion } from "../secrets/secret-name.ts";
import type { SecretKey, SecretStore } from "../secrets/secret-store.ts";
import { sdsResource, type TlsSecret } from "../secrets/tls-secret.ts";

/** Secrets as nodes ask for them. */
export interface SecretFeed {
  /** @returns undefined when there is no such secret, or it lacks what is asked for */
  find(namespace: string, question: SecretQuestion, name: string): Promise<FoundSecret | undefined>;
}

export interface FoundSecret {
  readonly resource: object;
  readonly serviceAccounts: readonly string[] | undefined;
}

interface Kept {
  readonly secret: TlsSecret | undefined;
  readonly etag: string | undefined;
  readonly checkedMs: number;
}

/** How often the store is asked again, whoever asks. */
export const secretTtlMs = 2_000;
const maxKept = 1_000;

/** Reads secrets through a cache in memory; what is opened there goes with the process. */
export function createSecretFeed(secrets: SecretStore, now: () => number): SecretFeed {
  const kept = new Map<string, Kept>();

  async function read(key: SecretKey): Promise<TlsSecret | undefined> {
    const id = `${key.namespace}/${key.name}`;
    const before = kept.get(id);
    if (before !== undefined && now() - before.checkedMs < secretTtlMs) return before.secret;
    const checkedMs = now();
    const found = await secrets.get(key, before?.etag);
    const secret = found === "unchanged" ? before?.secret : found?.secret;
    const etag = found === "unchanged" ? before?.etag : found?.etag;
    kept.delete(id);
    kept.set(id, { secret, etag, checkedMs });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return secret;
  }

  return {
    async find(namespace, { name, ca }, resourceName) {
      // A secret with nothing but the CA wins over the one that has it besides.
      for (const one of ca ? [caSecretName(name), name] : [name]) {
        const secret = await read({ namespace, name: one });
        const resource = secret && sdsResource(resourceName, secret, ca ? "ca" : "pair");
        if (secret !== undefined && resource !== undefined)
          return { resource, serviceAccounts: secret.serviceAccounts };
      }
      return undefined;
    },
  };
}
