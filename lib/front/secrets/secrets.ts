import { forwardClock } from "../../base/forward-clock.ts";
import { caSecretName, type SecretKey, type SecretQuestion } from "../../secrets/secret-name.ts";
import type { SecretStore, StoredSecret } from "../../secrets/secret-store.ts";
import { sdsResource } from "../../secrets/tls-secret.ts";

/** Secrets as nodes ask for them. */
export interface SecretFeed {
  /**
   * @returns undefined when there is no such secret, or it lacks what is asked for
   * @throws PortolanError when it cannot be read or opened
   */
  find(namespace: string, question: SecretQuestion, name: string): Promise<FoundSecret | undefined>;
}

export interface FoundSecret {
  readonly resource: object;
  readonly serviceAccounts: readonly string[] | undefined;
  readonly clusters: readonly string[] | undefined;
}

interface Kept {
  readonly found: Promise<StoredSecret | undefined>;
  readonly checkedMs: number;
}

/** How often the store is asked again, whoever asks. */
export const secretTtlMs = 2_000;
const maxKept = 1_000;

/**
 * Reads secrets through a cache in memory; what is opened there goes with the process. Whoever asks at a time shares one reading, and
 * its failure too.
 *
 * @param onError hears of each failure once, however many asked
 */
export function createSecretFeed(
  secrets: SecretStore,
  { now, onError }: { readonly now: () => number; readonly onError: (cause: unknown) => void },
): SecretFeed {
  const agedMs = forwardClock(now);
  const kept = new Map<string, Kept>();

  function read(key: SecretKey): Promise<StoredSecret | undefined> {
    const id = `${key.namespace}/${key.name}`;
    const before = kept.get(id);
    if (before !== undefined && agedMs() - before.checkedMs < secretTtlMs) return before.found;
    const found = readAgain(key, before?.found);
    kept.delete(id);
    kept.set(id, { found, checkedMs: agedMs() });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return found;
  }

  /** Of what could not be read before, nothing is kept. */
  async function readAgain(key: SecretKey, before: Kept["found"] | undefined): Kept["found"] {
    try {
      return await secrets.get(key, await before?.catch(() => undefined));
    } catch (cause) {
      onError(cause);
      throw cause;
    }
  }

  return {
    async find(namespace, { name, ca }, resourceName) {
      // A secret with nothing but the CA wins over the one that has it besides.
      for (const one of ca ? [caSecretName(name), name] : [name]) {
        const secret = (await read({ namespace, name: one }))?.secret;
        const resource = secret && sdsResource(resourceName, secret, ca ? "ca" : "pair");
        if (secret !== undefined && resource !== undefined)
          return { resource, serviceAccounts: secret.serviceAccounts, clusters: secret.clusters };
      }
      return undefined;
    },
  };
}
