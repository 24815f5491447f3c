import { PortolanError } from "../config/diagnostic.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import type { KeyWrapper, WrappedKey } from "./key-wrapper.ts";

/** A secret as it is stored: sealed with a key of its own, which is wrapped with one that never lies beside it. */
export interface Envelope {
  readonly version: 1;
  readonly key: WrappedKey;
  /** Base64, like the next. */
  readonly iv: string;
  readonly sealed: string;
}

/**
 * Seals a text with AES-256-GCM.
 *
 * @param place what it is and where it lies: a sealed text that was put elsewhere cannot be opened
 */
export async function seal(wrapper: KeyWrapper, place: string, text: string): Promise<Envelope> {
  const dataKey = crypto.getRandomValues(new Uint8Array(32));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const key = await crypto.subtle.importKey("raw", dataKey, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt(algorithm(iv, place), key, new TextEncoder().encode(text));
  return { version: 1, key: await wrapper.wrap(dataKey), iv: toBase64(iv), sealed: toBase64(new Uint8Array(sealed)) };
}

/** @throws PortolanError when the key is not known, or anything was changed */
export async function open(wrapper: KeyWrapper, place: string, envelope: Envelope): Promise<string> {
  const dataKey = await wrapper.unwrap(envelope.key);
  const iv = fromBase64(envelope.iv) ?? new Uint8Array();
  const sealed = fromBase64(envelope.sealed) ?? new Uint8Array();
  try {
    const key = await crypto.subtle.importKey("raw", dataKey, "AES-GCM", false, ["decrypt"]);
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm(iv, place), key, sealed));
  } catch {
    throw new PortolanError("a sealed secret was changed, or lies in another's place");
  }
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, place: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: new TextEncoder().encode(place),
});

/** @throws PortolanError for anything else than an envelope */
export function readEnvelope(bytes: Uint8Array): Envelope {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isEnvelope(json)) return json;
  } catch {
    // Said below.
  }
  throw new PortolanError("a stored secret cannot be read");
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null) return false;
  const { version, key, iv, sealed }: Partial<Record<string, unknown>> = { ...value };
  const { id, wrapped }: Partial<Record<string, unknown>> = typeof key === "object" && key !== null ? { ...key } : {};
  return version === 1 && [id, wrapped, iv, sealed].every((text) => typeof text === "string");
}
