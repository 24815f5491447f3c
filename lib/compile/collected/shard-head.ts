import { type Fields, isFields, jsonIn } from "../../base/untyped.ts";
import { canonicalJson, isSha256 } from "../../config/canonical-json.ts";
import type { OriginAbout } from "../../registry/origin/origin.ts";
import { encodeKeyPart } from "../../storage/object-store.ts";

/**
 * The present of a collected source. Its objects are the entries of a Merkle tree (`lib/config-store/ledger/merkle-tree.ts`): object
 * key → `entryText`, so that a changed object writes one leaf and the branches above it.
 */
export interface ShardHead {
  readonly about: OriginAbout;
  /** Which origin of that kind it is, as `Origin.identity` says it; absent where that is not known. */
  readonly identity?: string | undefined;
  /** Of the tree. */
  readonly root: string;
  /** Somebody has said that the source may hold nothing. */
  readonly isMeantEmpty: boolean;
}

/** Where the parts of a collected source lie. A version is the hash of a head's text. */
export const collectedKeys = {
  head: (source: string) => `sources/${encodeKeyPart(source)}/head`,
  /** The head as it was, for as long as somebody may ask where an object of an earlier version stood. */
  version: (source: string, version: string) => `sources/${encodeKeyPart(source)}/versions/${version}`,
  node: (source: string, hash: string) => `sources/${encodeKeyPart(source)}/nodes/${hash}`,
};

/** The head as it is stored. */
export function headText({ about, identity, root, isMeantEmpty }: ShardHead): string {
  const which = identity === undefined ? {} : { identity };
  return canonicalJson({ about, ...which, root, ...(isMeantEmpty ? { empty: true } : {}) });
}

/** @returns undefined for what is no head */
export function readShardHead(text: string): ShardHead | undefined {
  const json = jsonIn(text);
  if (!isFields(json) || !isSha256(json.root)) return undefined;
  const about = readAbout(json.about);
  if (about === undefined) return undefined;
  const { root, empty } = json;
  return { about, ...identityIn(json), root, isMeantEmpty: empty === true };
}

function readAbout(value: unknown): OriginAbout | undefined {
  if (!isFields(value)) return undefined;
  const { kind, cluster } = value;
  if (kind === "consul" || kind === "mcp") return { kind };
  return kind === "kubernetes" && typeof cluster === "string" ? { kind, cluster } : undefined;
}

const identityIn = ({ identity }: Fields): Pick<ShardHead, "identity"> =>
  typeof identity === "string" && identity !== "" ? { identity } : {};

/** An origin in a message: `Consul (address http://127.0.0.1:8500/dc1)`. */
export function originText({ about, identity }: Pick<ShardHead, "about" | "identity">): string {
  return kindText(about) + (identity === undefined ? "" : ` (${identity})`);
}

function kindText(about: OriginAbout): string {
  switch (about.kind) {
    case "kubernetes":
      return `the cluster ${about.cluster}`;
    case "consul":
      return "Consul";
    case "mcp":
      return "a source of MCP";
  }
}

/** Whether two heads are known to be of different origins. What is known in different ways may be the same. */
export function areOfDifferentOrigins(
  a: Pick<ShardHead, "about" | "identity">,
  b: Pick<ShardHead, "about" | "identity">,
): boolean {
  if (canonicalJson(a.about) !== canonicalJson(b.about)) return true;
  if (a.identity === undefined || b.identity === undefined || a.identity === b.identity) return false;
  return a.identity.split(" ")[0] === b.identity.split(" ")[0];
}
