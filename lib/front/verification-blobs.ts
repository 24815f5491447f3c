import { accountKey } from "../base/classifier.ts";
import { rootsOfHead } from "../snapshot/head/head.ts";
import { shardFor, shardsWith } from "../snapshot/nodes/node-index.ts";
import { resourceTypes } from "../snapshot/resource-type.ts";
import type { NodeShardRef } from "../snapshot/root.ts";
import { createLoadCache } from "../snapshot/worlds/load-cache.ts";
import type { Caller } from "./auth/caller.ts";
import type { Front } from "./front.ts";

/** Blobs from HEAD to the versions that nodes are served: for readers that trust a signing key instead of the server. */
export interface VerificationBlobs {
  /** A blob of a root that HEAD names, other than one with resources or with other nodes. @returns undefined for any other */
  blob(hash: string, caller: Caller): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

const maxBytes = 8 * 1024 * 1024;

/**
 * Names and hashes, and no configuration: a node learns what classes and resources there are, and not what is in them. Of the node index
 * it gets the pieces in which it could be itself.
 */
export function createVerificationBlobs({ heads, reader }: Pick<Front, "heads" | "reader">): VerificationBlobs {
  const blobs = createLoadCache<string, Uint8Array<ArrayBuffer>>({
    nameOf: (hash) => hash,
    maxBytes,
    load: reader.bytes,
    sizeOf: ({ length }) => length,
  });
  return {
    async blob(hash, caller) {
      const head = await heads.current();
      for (const rootHash of head === undefined ? [] : rootsOfHead(head)) {
        if (rootHash === hash) return blobs.get(hash);
        const { root } = await reader.root(rootHash);
        const { classes, classifier, nodes, nodeList } = root;
        const tables = await Promise.all(resourceTypes.map((type) => reader.tableBlobs(root, type)));
        const named = [
          classes,
          classifier,
          nodeList,
          ...tables.flat(),
          ...shardsFor(nodes, caller).map((one) => one.hash),
        ];
        if (named.includes(hash)) return blobs.get(hash);
      }
      return undefined;
    },
  };
}

/** By what a front itself looks for a caller's node; all where nothing narrower than its namespace was proven. */
function shardsFor(nodes: readonly NodeShardRef[], caller: Caller): readonly NodeShardRef[] {
  if (caller.kind !== "node") return nodes;
  const { namespace, pod, serviceAccount } = caller;
  if (pod === undefined)
    return serviceAccount === undefined ? nodes : shardsWith(nodes, accountKey(serviceAccount, ""));
  const shard = shardFor(nodes, `${pod}.${namespace}`);
  return shard === undefined ? [] : [shard];
}
