import { hashOf } from "../base/blob.ts";
import type { Part } from "./root.ts";

/** Characters of a content hash that go over the wire: 128 bits. */
const wireLength = 32;

/** A tree's or a resource's version, as nodes get it. */
export const wireVersion = (hash: string): string => hash.slice(0, wireLength);

/** Version of a tree: covers names and content of its resources, and nothing else. */
export const versionOfParts = (parts: readonly Pick<Part, "content">[]): string =>
  hashOf(parts.map(({ content }) => content).join());
