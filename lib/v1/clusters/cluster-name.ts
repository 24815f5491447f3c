import { createHash } from "node:crypto";

const maxNameLength = 189;
const hashLength = 40;

/** Envoys of that time take names of up to 189 characters: the end of a longer one gives way to a hash of the whole. */
export function truncated(name: string, maxLength: number = maxNameLength): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - hashLength)}${createHash("sha1").update(name).digest("hex")}`;
}

/** `out.<service key>`. */
export const outboundName = (serviceKey: string): string => truncated(`out.${serviceKey}`);

/** `in.<port of the workload>`. */
export const inboundName = (port: number): string => `in.${port}`;

/** `jwks.<host>|<scheme>`. */
export function jwksName(host: string, scheme: string): string {
  const prefix = "jwks.";
  return `${prefix}${truncated(`${host}|${scheme}`, maxNameLength - prefix.length)}`;
}

/** `outbound|<port>||<host>`: what v2 calls the cluster of a whole service. */
export const v2ClusterName = (hostname: string, port: number): string => `outbound|${port}||${hostname}`;
