import { fromBase64, toBase64 } from "../base/base64.ts";
import { insideString } from "./go-json.ts";
import type { NodeId } from "./node-id.ts";

/**
 * Texts with holes: what the answers to all nodes of a class have in common. A hole stands between two characters that no
 * configuration has; its name says which property of the node is put there.
 *
 * `packed` and `digest` are for Mixer, whose configuration travels packed: the hole carries the inner template in base64, which is
 * filled first, then written in base64, or as the base64 of its SHA-256.
 */
const open = "\uE000";
const close = "\uE001";

/** The node that a template is made for: each of its properties is a hole. */
export function holes(type: NodeId["type"], domain: string): NodeId {
  return { type, domain, ip: hole("ip"), ipBytes: hole("ipBytes"), id: hole("id") };
}

const hole = (name: string): string => `${open}${name}${close}`;

/** Does the text have any hole? */
export const hasHoles = (text: string): boolean => text.includes(open);

/** A hole for a template that is to be packed, and one for the digest of the same. */
export function packedHoles(template: string): { readonly packed: string; readonly digest: string } {
  const inner = toBase64(new TextEncoder().encode(template));
  return { packed: hole(`packed:${inner}`), digest: hole(`digest:${inner}`) };
}

/** The text for one node. */
export async function fill(template: string, node: NodeId): Promise<string> {
  const parts = template.split(/\uE000([^\uE000\uE001]*)\uE001/);
  const filled = await Promise.all(parts.map((part, index) => (index % 2 === 0 ? part : valueOf(part, node))));
  return filled.join("");
}

async function valueOf(name: string, node: NodeId): Promise<string> {
  const [kind = "", inner = ""] = name.split(":");
  switch (kind) {
    case "ip":
      return insideString(node.ip);
    case "ipBytes":
      return node.ipBytes;
    case "id":
      return insideString(node.id);
    case "packed":
      return toBase64(await innerBytes(inner, node));
    case "digest":
      return toBase64(new Uint8Array(await crypto.subtle.digest("SHA-256", await innerBytes(inner, node))));
    default:
      return "";
  }
}

async function innerBytes(inner: string, node: NodeId): Promise<Uint8Array<ArrayBuffer>> {
  return new TextEncoder().encode(await fill(new TextDecoder().decode(fromBase64(inner)), node));
}
