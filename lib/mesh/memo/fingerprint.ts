import { createHash } from "node:crypto";

/** A short text that stands for a long one in a name. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
