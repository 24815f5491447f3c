import { rootsOfHead } from "../snapshot/head/head.ts";
import { resourceTypes } from "../snapshot/resource-type.ts";
import { createLoadCache } from "../snapshot/worlds/load-cache.ts";
import type { Front } from "./front.ts";

/** What leads from HEAD to the versions that nodes are served: for readers who trust a key, and no front. */
export interface Proof {
  /** A blob of a root that HEAD names, other than one with resources. @returns undefined for any other */
  blob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

const maxBytes = 8 * 1024 * 1024;

/** Names and hashes, and no configuration: a node learns what classes, resources and nodes there are, and not what is in them. */
export function createProof({ heads, reader }: Pick<Front, "heads" | "reader">): Proof {
  const blobs = createLoadCache<string, Uint8Array<ArrayBuffer>>({
    nameOf: (hash) => hash,
    maxBytes,
    load: reader.bytes,
    sizeOf: ({ length }) => length,
  });
  return {
    async blob(hash) {
      const head = await heads.current();
      for (const rootHash of head === undefined ? [] : rootsOfHead(head)) {
        if (rootHash === hash) return blobs.get(hash);
        const { root } = await reader.root(rootHash);
        const { classes, classifier, nodes } = root;
        const tables = await Promise.all(resourceTypes.map((type) => reader.tableBlobs(root, type)));
        const named = [classes, classifier, ...tables.flat(), ...nodes.map((one) => one.hash)];
        if (named.includes(hash)) return blobs.get(hash);
      }
      return undefined;
    },
  };
}
