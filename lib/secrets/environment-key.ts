import { fromBase64, toBase64 } from "../base/base64.ts";
import type { WrappingKey } from "./key-wrapper.ts";

const keyBytes = 32;
const ivBytes = 12;
const additionalData = new TextEncoder().encode("portolan data key 1\n");

/** A new key for `PORTOLAN_SECRETS_KEY`. */
export const makeWrappingKey = (): string => toBase64(crypto.getRandomValues(new Uint8Array(keyBytes)));

/**
 * A key in the environment: AES-256-GCM.
 *
 * @param text 32 bytes in base64
 * @returns undefined for anything else
 */
export function environmentKey(text: string): WrappingKey | undefined {
  const raw = fromBase64(text);
  if (raw?.length !== keyBytes) return undefined;
  return {
    async wrap(dataKey) {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const sealed = await crypto.subtle.encrypt(algorithm(iv), await importKey(raw), dataKey);
      return { id: await idOf(raw), wrapped: toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)])) };
    },
    async unwrap({ id, wrapped }) {
      if (id !== (await idOf(raw))) return { kind: "foreign" };
      const bytes = fromBase64(wrapped) ?? new Uint8Array();
      try {
        const sealed = bytes.slice(ivBytes);
        const opened = await crypto.subtle.decrypt(algorithm(bytes.slice(0, ivBytes)), await importKey(raw), sealed);
        return { kind: "opened", dataKey: new Uint8Array(opened) };
      } catch {
        return { kind: "refused", reason: `a data key was not wrapped with the key ${id}, or was changed` };
      }
    },
  };
}

const algorithm = (iv: Uint8Array<ArrayBuffer>) => ({ name: "AES-GCM", iv, additionalData });

const importKey = (bytes: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);

/** Tells keys apart and says nothing of them: the beginning of a hash. */
async function idOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const prefix = new TextEncoder().encode("portolan secrets key\n");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array([...prefix, ...bytes])));
  return `env-${[...digest.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
