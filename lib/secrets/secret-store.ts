import { PortolanError } from "../config/diagnostic.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { type Envelope, makeDataKey, open, readEnvelope, seal } from "./envelope.ts";
import type { KeyWrapper } from "./key-wrapper.ts";
import type { SecretKey } from "./secret-name.ts";
import type { TlsSecret } from "./tls-secret.ts";

/** A secret as read, how it is stored, and the tag by which a change is known. */
export interface StoredSecret {
  readonly secret: TlsSecret;
  readonly envelope: Envelope;
  readonly etag: string;
}

/** Secrets in an object store, apart from sources and snapshots, each in an envelope of its own. */
export interface SecretStore {
  /**
   * @param before what the caller has: while it is what is stored it is not fetched again, but opened again, so that a key that was
   *   taken away ends it
   * @throws PortolanError, with the name of the secret, when it cannot be opened
   */
  get(key: SecretKey, before?: StoredSecret): Promise<StoredSecret | undefined>;
  put(key: SecretKey, secret: TlsSecret): Promise<void>;
  delete(key: SecretKey): Promise<void>;
  /** Names, and nothing of what they hold. */
  list(): AsyncIterable<SecretKey>;
  /** Seals anew what the first of the keys has not sealed, so that the others can go. */
  rewrap(): Promise<Rewrapped>;
}

/** How many secrets. */
export interface Rewrapped {
  readonly sealedAnew: number;
  readonly leftAlone: number;
}

/** Far above any chain of certificates. */
const maxBytes = 256 * 1024;

const root = "secrets/";
const objectKey = ({ namespace, name }: SecretKey) => `${root}${encodeKeyPart(namespace)}/${encodeKeyPart(name)}`;
/** Others that write a secret while it is sealed anew, as often as can be believed. */
const maxAttempts = 5;

export function secretStore(store: ObjectStore, wrapper: KeyWrapper): SecretStore {
  async function get(key: SecretKey, before?: StoredSecret): Promise<StoredSecret | undefined> {
    const found = await store.get(objectKey(key), before === undefined ? {} : { ifNoneMatch: before.etag });
    if (found.kind === "absent") return undefined;
    return naming(key, async () => {
      const stored = found.kind === "unchanged" ? before : { envelope: readEnvelope(found.bytes), etag: found.etag };
      if (stored === undefined) return undefined;
      const { envelope, etag } = stored;
      // What could be opened was sealed below.
      return { secret: JSON.parse(await open(wrapper, key, envelope)), envelope, etag };
    });
  }

  async function put(key: SecretKey, secret: TlsSecret): Promise<void> {
    const text = JSON.stringify(secret);
    if (text.length > maxBytes)
      throw new PortolanError(`the secret ${key.namespace}/${key.name} is over ${maxBytes} bytes`);
    const envelope = await naming(key, async () => seal(await makeDataKey(wrapper, key), key, text));
    await store.put(objectKey(key), bytesOf(envelope));
  }

  async function* list(): AsyncGenerator<SecretKey> {
    for await (const { key } of store.list(root)) {
      const [namespace = "", name = ""] = key.slice(root.length).split("/").map(decodeURIComponent);
      yield { namespace, name };
    }
  }

  /** @returns whether it was sealed by another key, or undefined when it is gone */
  async function rewrapOne(key: SecretKey): Promise<boolean | undefined> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const found = await store.get(objectKey(key));
      if (found.kind !== "found") return undefined;
      const fresh = await naming(key, async () => {
        const envelope = readEnvelope(found.bytes);
        const dataKey = await makeDataKey(wrapper, key);
        // Whoever may wrap with the first key need not be able to open what it has wrapped.
        if (dataKey.wrapped.id === envelope.key.id) return undefined;
        return seal(dataKey, key, await open(wrapper, key, envelope));
      });
      if (fresh === undefined) return false;
      const { kind } = await store.put(objectKey(key), bytesOf(fresh), { ifMatch: found.etag });
      if (kind === "stored") return true;
    }
    throw new PortolanError(`the secret ${key.namespace}/${key.name} is written by others all the time`);
  }

  return {
    get,
    put,
    list,
    delete: (key) => store.delete(objectKey(key)),
    async rewrap() {
      let sealedAnew = 0;
      let leftAlone = 0;
      for await (const key of list()) {
        const outcome = await rewrapOne(key);
        if (outcome === true) sealedAnew += 1;
        if (outcome === false) leftAlone += 1;
      }
      return { sealedAnew, leftAlone };
    },
  };
}

const bytesOf = (envelope: Envelope) => new TextEncoder().encode(JSON.stringify(envelope));

/** Errors say which secret they are about. */
async function naming<T>({ namespace, name }: SecretKey, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new PortolanError(`the secret ${namespace}/${name}: ${cause.message}`, [], cause);
  }
}
