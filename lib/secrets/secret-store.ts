import { PortolanError } from "../base/diagnostic.ts";
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
}

/** Far above any chain of certificates. */
const maxBytes = 256 * 1024;

/** Where secrets lie in a store. */
export const secretsPrefix = "secrets/";

/** What is Portolan's own beside secrets, such as the CA, is under it. No namespace of Kubernetes has a dot, and no secret is in it. */
export const ownNamespace = "portolan.ca";

/** Where a secret lies in its store. */
export const objectKey = ({ namespace, name }: SecretKey) =>
  `${secretsPrefix}${encodeKeyPart(namespace)}/${encodeKeyPart(name)}`;

/** Secrets sealed with the keys of a wrapper, in a store. */
export function secretStore(store: ObjectStore, wrapper: KeyWrapper): SecretStore {
  async function get(key: SecretKey, before?: StoredSecret): Promise<StoredSecret | undefined> {
    if (key.namespace === ownNamespace) return undefined;
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
    refuseOwn(key);
    const text = JSON.stringify(secret);
    if (text.length > maxBytes)
      throw new PortolanError(`the secret ${key.namespace}/${key.name} is over ${maxBytes} bytes`);
    const envelope = await naming(key, async () => seal(await makeDataKey(wrapper, key), key, text));
    await store.put(objectKey(key), bytesOf(envelope));
  }

  async function* list(): AsyncGenerator<SecretKey> {
    for await (const { key } of store.list(secretsPrefix)) {
      const [namespace = "", name = ""] = key.slice(secretsPrefix.length).split("/").map(decodeURIComponent);
      if (namespace !== ownNamespace) yield { namespace, name };
    }
  }

  return {
    get,
    put,
    list,
    async delete(key) {
      refuseOwn(key);
      await store.delete(objectKey(key));
    },
  };
}

function refuseOwn({ namespace }: SecretKey): void {
  if (namespace === ownNamespace)
    throw new PortolanError(`the namespace ${ownNamespace} is reserved for the CA: use \`portolan ca\``);
}

/** An envelope as it is stored. */
export const bytesOf = (envelope: Envelope) => new TextEncoder().encode(JSON.stringify(envelope));

/** Does something with a secret; errors say with which. */
export async function naming<T>({ namespace, name }: SecretKey, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new PortolanError(`the secret ${namespace}/${name}: ${cause.message}`, [], cause);
  }
}
