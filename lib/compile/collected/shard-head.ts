import { canonicalJson } from "../../config/canonical-json.ts";
import { isFields } from "../../config/untyped.ts";
import type { OriginAbout } from "../../registry/origin.ts";
import { encodeKeyPart } from "../../storage/object-store.ts";

/**
 * The present of a collected source. Its objects are the entries of a Merkle tree (`lib/config-store/ledger/merkle-tree.ts`): object
 * key → `entryText`, so that a changed object writes one leaf and the branches above it.
 */
export interface ShardHead {
  readonly about: OriginAbout;
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
export function headText({ about, root, isMeantEmpty }: ShardHead): string {
  return canonicalJson({ about, root, ...(isMeantEmpty ? { empty: true } : {}) });
}

/** @returns undefined for what is no head */
export function readShardHead(text: string): ShardHead | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(json) || typeof json.root !== "string" || !/^[0-9a-f]{64}$/.test(json.root)) return undefined;
  const about = readAbout(json.about);
  return about === undefined ? undefined : { about, root: json.root, isMeantEmpty: json.empty === true };
}

function readAbout(value: unknown): OriginAbout | undefined {
  if (!isFields(value)) return undefined;
  const { kind, cluster } = value;
  if (kind === "consul" || kind === "mcp") return { kind };
  return kind === "kubernetes" && typeof cluster === "string" ? { kind, cluster } : undefined;
}

/** An origin in a message: `Consul`. */
export function originText(about: OriginAbout): string {
  switch (about.kind) {
    case "kubernetes":
      return `the cluster ${about.cluster}`;
    case "consul":
      return "Consul";
    case "mcp":
      return "a source of MCP";
  }
}

/** An object in the tree: the origin's version of it, a blank, its canonical JSON. */
export const entryText = (version: string, json: string): string => `${version} ${json}`;

/** The version of an entry and the JSON text of its object. */
export function splitEntry(text: string): { readonly version: string; readonly json: string } {
  const blank = text.indexOf(" ");
  return { version: text.slice(0, blank), json: text.slice(blank + 1) };
}
