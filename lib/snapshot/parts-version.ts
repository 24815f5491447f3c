import { hashOf } from "./blob.ts";
import type { Part } from "./root.ts";

/** Version of a tree: covers names and content of its resources, and nothing else. */
export const versionOfParts = (parts: readonly Pick<Part, "content">[]): string =>
  hashOf(parts.map(({ content }) => content).join());
