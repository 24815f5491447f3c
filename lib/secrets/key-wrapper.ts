import { PortolanError } from "../config/diagnostic.ts";
import { fromBase64, toBase64 } from "./base64.ts";

/** A data key as it is stored: nobody reads it who cannot use the key that it names. */
export interface WrappedKey {
  readonly id: string;
  /** Base64. */
  readonly wrapped: string;
}

/**
 * Keeps the keys that data keys are wrapped with: in the environment, or with a key management service, which then never lets
 * them out.
 */
export interface KeyWrapper {
  wrap(dataKey: Uint8Array<ArrayBuffer>): Promise<WrappedKey>;
  /** @throws PortolanError when the key is not known here, or the wrapped bytes are not its */
  unwrap(key: WrappedKey): Promise<Uint8Array<ArrayBuffer>>;
}

const keyBytes = 32;
const ivBytes = 12;
const additionalData = new TextEncoder().encode("portolan data key 1\n");

/** A new key for `PORTOLAN_SECRETS_KEY`. */
export const makeWrappingKey = (): string => toBase64(crypto.getRandomValues(new Uint8Array(keyBytes)));

/**
 * Keys in the environment: AES-256-GCM, each 32 bytes in base64, the new one and the old with a blank between them. The first
 * wraps, both unwrap.
 *
 * @param name of the setting, for messages, which never hold what stands in it
 * @throws PortolanError for anything but one or two keys
 */
export function environmentKeys(setting: string, name: string): KeyWrapper {
  const texts = setting.split(/\s+/).filter((text) => text !== "");
  const raw = texts.flatMap((text) => fromBase64(text) ?? []);
  if (
    raw.length === 0 ||
    raw.length !== texts.length ||
    raw.length > 2 ||
    raw.some(({ length }) => length !== keyBytes)
  )
    throw new PortolanError(`${name} is not one or two keys of 32 bytes in base64`);
  const keys = () => Promise.all(raw.map(importKey));
  return {
    async wrap(dataKey) {
      const [first] = await keys();
      if (first === undefined) throw new PortolanError(`${name} holds no key`);
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, first.key, dataKey);
      return { id: first.id, wrapped: toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)])) };
    },
    async unwrap({ id, wrapped }) {
      const known = (await keys()).find((key) => key.id === id);
      if (known === undefined) throw new PortolanError(`${name} does not hold the key ${id}`);
      const bytes = fromBase64(wrapped) ?? new Uint8Array();
      try {
        const algorithm = { name: "AES-GCM", iv: bytes.slice(0, ivBytes), additionalData };
        return new Uint8Array(await crypto.subtle.decrypt(algorithm, known.key, bytes.slice(ivBytes)));
      } catch {
        throw new PortolanError(`a data key was not wrapped with the key ${id}, or was changed`);
      }
    },
  };
}

async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<Key> {
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { id: await idOf(bytes), key };
}

interface Key {
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

/** Tells keys apart and says nothing of them: the beginning of a hash. */
async function idOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const prefix = new TextEncoder().encode("portolan secrets key\n");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array([...prefix, ...bytes])));
  return `env-${[...digest.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
