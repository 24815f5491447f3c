import { hashOf } from "../../base/blob.ts";

/** What has a file for each resource: routes, secrets, configurations of extensions. */
export type LeafKind = "rds" | "sds" | "ecds";

const readableLength = 100;

/**
 * File of a resource, from the agent's folder. Names of resources are anybody's: what no file system takes is left out, and a hash
 * tells apart what is the same then.
 */
export function leafPath(kind: LeafKind, name: string): string {
  const readable = name
    .replace(/[^A-Za-z0-9.-]+/g, "_")
    .replace(/^[._-]+/, "")
    .slice(0, readableLength);
  return `${kind}/${readable}-${hashOf(name).slice(0, 16)}.json`;
}
