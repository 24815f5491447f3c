import { blobOfKey } from "../../base/blob.ts";
import type { NodeClaims } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseHead, rootsOfHead } from "../../snapshot/head/head.ts";
import { needSigned } from "../../snapshot/head/signatures.ts";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import { versionOfParts, wireVersion } from "../../snapshot/parts-version.ts";
import type { BlobSource } from "../../snapshot/reader/blobs.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { FrontClient } from "./front-client.ts";
import type { GenerationKeeper } from "./generation.ts";
import { type AgentNode, claimsOfNode } from "./node.ts";
import { classesFor } from "./placement.ts";
import type { HeldType, WholeHoldings } from "./resources.ts";

export interface SignedHeadOptions {
  readonly client: FrontClient;
  readonly node: AgentNode;
  readonly trusted: readonly SigningJwk[];
  readonly generation: GenerationKeeper;
  readonly types: readonly HeldType[];
}

const maxCacheBytes = 4 * 1024 * 1024;

/**
 * Holds what a front has sent against a HEAD that a trusted key has signed: the front hands over HEAD and the blobs that lead from it to
 * the versions, each of which is compared with its name. A front that lies can so withhold what is new, and nothing else.
 *
 * @returns throws PortolanError when nothing that is signed leads to those versions
 */
export function againstSignedHead(options: SignedHeadOptions): (holdings: WholeHoldings) => Promise<void> {
  const { client, trusted, generation, types } = options;
  const claims = claimsOfNode(options.node);
  const reader = createSnapshotReader(blobsOf(client), maxCacheBytes);
  let believed = "";
  return async (holdings) => {
    const versions = types.map((type) => holdings[type]?.version ?? "");
    if (versions.join() === believed) return;
    const { status, body } = await client.ask({ path: "/v3/head" });
    if (status !== 200) throw new PortolanError(`the front shows no HEAD (${status}), so no answer of it is accepted`);
    const head = await needSigned(trusted, parseHead(new TextEncoder().encode(body)));
    generation.check(head);
    const served = await versionsFor(reader, rootsOfHead(head), claims, types);
    const isServed = served.some((byType) => versions.every((version, i) => byType[i]?.has(version)));
    if (!isServed) {
      throw new PortolanError(
        `the front sent what HEAD of generation ${head.generation}, signed as it is, does not lead this node to: it is left out`,
      );
    }
    await generation.keep(head);
    believed = versions.join();
  };
}

const nothing = versionOfParts([]);

/** For each class that the node may be of, the versions of each type in some roots: while HEAD moves, types may be of two of them. */
async function versionsFor(
  reader: ReturnType<typeof createSnapshotReader>,
  roots: readonly string[],
  claims: NodeClaims,
  types: readonly HeldType[],
): Promise<readonly (readonly ReadonlySet<string>[])[]> {
  const byClass = new Map<string, readonly Set<string>[]>();
  for (const hash of roots) {
    const loaded = await reader.root(hash);
    for (const classId of await classesFor(reader, loaded, claims)) {
      const shape = loaded.classes.get(classId)?.stream;
      const sets = byClass.get(classId) ?? types.map(() => new Set<string>());
      byClass.set(classId, sets);
      for (const [i, type] of types.entries()) {
        const version = shape === undefined ? undefined : await reader.treeVersion(loaded.root, type, shape[type]);
        // A class without any of a type has the empty list.
        if (shape !== undefined) sets[i]?.add(wireVersion(version ?? nothing));
      }
    }
  }
  return [...byClass.values()];
}

/** Blobs as a front hands them over; what they hold is for the reader to compare with their names. */
function blobsOf(client: FrontClient): BlobSource {
  return {
    async get(key) {
      const hash = blobOfKey(key);
      const { status, body } = await client.ask({ path: `/v3/blobs/${hash ?? ""}` });
      return status === 200 ? { kind: "found", bytes: new TextEncoder().encode(body), etag: "" } : { kind: "absent" };
    },
  };
}
