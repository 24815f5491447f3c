import { createHash } from "node:crypto";

/** JSON on one line with sorted keys: equal values give equal texts. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) {
    let text = "[";
    for (const element of value) text += (text === "[" ? "" : ",") + canonicalJson(element);
    return `${text}]`;
  }
  let text = "{";
  for (const name of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, name);
    if (member === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** SHA-256 in lower-case hexadecimal digits. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Whether it is one. */
export const isSha256 = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
