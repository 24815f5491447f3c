import { PortolanError } from "../config/diagnostic.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { open, readEnvelope, seal } from "./envelope.ts";
import type { KeyWrapper } from "./key-wrapper.ts";
import type { TlsSecret } from "./tls-secret.ts";

export interface SecretKey {
  readonly namespace: string;
  readonly name: string;
}

/** A secret as read, and the tag by which a change is known. */
export interface StoredSecret {
  readonly secret: TlsSecret;
  readonly etag: string;
}

/** Secrets in an object store, apart from sources and snapshots, each in an envelope of its own. */
export interface SecretStore {
  /** @param known tag of what the caller has: `unchanged` when it still is that */
  get(key: SecretKey, known?: string): Promise<StoredSecret | "unchanged" | undefined>;
  put(key: SecretKey, secret: TlsSecret): Promise<void>;
  delete(key: SecretKey): Promise<void>;
  /** Names, and nothing of what they hold. */
  list(): AsyncIterable<SecretKey>;
  /** Seals everything anew with the first of the keys, so that the others can go. @returns how many */
  rewrap(): Promise<number>;
}

/** Far above any chain of certificates. */
const maxBytes = 256 * 1024;

const root = "secrets/";
const objectKey = ({ namespace, name }: SecretKey) => `${root}${encodeKeyPart(namespace)}/${encodeKeyPart(name)}`;
const placeOf = ({ namespace, name }: SecretKey) => `portolan secret 1\n${namespace}\n${name}\n`;

export function secretStore(store: ObjectStore, wrapper: KeyWrapper): SecretStore {
  async function read(key: SecretKey, known?: string): Promise<StoredSecret | "unchanged" | undefined> {
    const found = await store.get(objectKey(key), known === undefined ? {} : { ifNoneMatch: known });
    if (found.kind === "unchanged") return "unchanged";
    if (found.kind === "absent") return undefined;
    const text = await open(wrapper, placeOf(key), readEnvelope(found.bytes));
    // What could be opened was sealed below.
    return { secret: JSON.parse(text), etag: found.etag };
  }

  async function put(key: SecretKey, secret: TlsSecret): Promise<void> {
    const text = JSON.stringify(secret);
    if (text.length > maxBytes)
      throw new PortolanError(`the secret ${key.namespace}/${key.name} is over ${maxBytes} bytes`);
    const envelope = await seal(wrapper, placeOf(key), text);
    await store.put(objectKey(key), new TextEncoder().encode(JSON.stringify(envelope)));
  }

  async function* list(): AsyncGenerator<SecretKey> {
    for await (const { key } of store.list(root)) {
      const [namespace = "", name = ""] = key.slice(root.length).split("/").map(decodeURIComponent);
      yield { namespace, name };
    }
  }

  return {
    get: read,
    put,
    list,
    delete: (key) => store.delete(objectKey(key)),
    async rewrap() {
      let count = 0;
      for await (const key of list()) {
        const found = await read(key);
        if (found === undefined || found === "unchanged") continue;
        await put(key, found.secret);
        count += 1;
      }
      return count;
    },
  };
}
