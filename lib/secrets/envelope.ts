import { fromBase64, toBase64 } from "../base/base64.ts";
import { PortolanError } from "../base/diagnostic.ts";
import type { KeyWrapper, WrappedKey } from "./key-wrapper.ts";
import type { SecretKey } from "./secret-name.ts";

/** A secret as it is stored: sealed with a key of its own, which is wrapped with one that never lies beside it. */
export interface Envelope {
  readonly version: 1;
  readonly key: WrappedKey;
  /** Base64, like the next. */
  readonly iv: string;
  readonly sealed: string;
}

/** A key that seals one text, as it is and as it is stored. */
export interface DataKey {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly wrapped: WrappedKey;
}

/** @throws PortolanError when it cannot be wrapped */
export async function makeDataKey(wrapper: KeyWrapper, secret: SecretKey): Promise<DataKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return { bytes, wrapped: await wrapper.wrap(bytes, secret) };
}

/**
 * Seals a text with AES-256-GCM.
 *
 * @param secret that it is: a sealed text that was put in another's place cannot be opened
 */
export async function seal({ bytes, wrapped }: DataKey, secret: SecretKey, text: string): Promise<Envelope> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt(algorithm(iv, secret), key, new TextEncoder().encode(text));
  return { version: 1, key: wrapped, iv: toBase64(iv), sealed: toBase64(new Uint8Array(sealed)) };
}

/** @throws PortolanError when the key is not known or not given, or anything was changed */
export async function open(wrapper: KeyWrapper, secret: SecretKey, envelope: Envelope): Promise<string> {
  const dataKey = await wrapper.unwrap(envelope.key, secret);
  const iv = fromBase64(envelope.iv) ?? new Uint8Array();
  const sealed = fromBase64(envelope.sealed) ?? new Uint8Array();
  try {
    const key = await crypto.subtle.importKey("raw", dataKey, "AES-GCM", false, ["decrypt"]);
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm(iv, secret), key, sealed));
  } catch {
    throw new PortolanError("it was changed, or stored under the name of another");
  }
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, { namespace, name }: SecretKey) => ({
  name: "AES-GCM",
  iv,
  additionalData: new TextEncoder().encode(`portolan secret 1\n${namespace}\n${name}\n`),
});

/** @throws PortolanError for anything else than an envelope */
export function readEnvelope(bytes: Uint8Array): Envelope {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isEnvelope(json)) return json;
  } catch {
    // Said below.
  }
  throw new PortolanError("what is stored cannot be read");
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null) return false;
  const { version, key, iv, sealed }: Partial<Record<string, unknown>> = { ...value };
  const { id, wrapped }: Partial<Record<string, unknown>> = typeof key === "object" && key !== null ? { ...key } : {};
  return version === 1 && [id, wrapped, iv, sealed].every((text) => typeof text === "string");
}
