import type { Blob } from "../base/blob.ts";
import { byCodePoint } from "../base/diagnostic.ts";
import { blobsIn } from "../snapshot/blob-groups.ts";
import type { Prewrite } from "../snapshot/prewrite.ts";
import { shapes } from "../snapshot/resource-type.ts";
import type { WorldEncoder } from "../snapshot/worlds/encode-world.ts";
import type { OnMade } from "./compile-classes.ts";

/** About three MiB: few messages, the first of them early. */
const blobsAtOnce = 256;

/** Writes the blobs of lists as soon as the lists are made, each once. */
export function prewriteLists(prewrite: Prewrite, runsOf: WorldEncoder["runsOf"]): OnMade {
  const known = new Set<string>();
  return ({ first, second }) => {
    const lists = new Set(shapes.flatMap((shape) => [...first[shape], ...(second?.[shape] ?? [])]));
    const made = new Map<string, Blob>();
    const runs = new Set([...lists].flatMap((list) => runsOf(list, (blob) => made.set(blob.hash, blob))));
    const blobs = blobsIn([...runs].flatMap(({ parts }) => parts));
    // In the order of their names: a store of folders then writes many into one at a time.
    const missing = [...blobs.values()]
      .filter(({ hash }) => !known.has(hash))
      .sort((a, b) => byCodePoint(a.hash, b.hash));
    for (let from = 0; from < missing.length; from += blobsAtOnce) {
      const some = missing.slice(from, from + blobsAtOnce);
      prewrite.write(some.map(({ hash, make }) => made.get(hash) ?? { hash, bytes: make() }));
      for (const { hash } of some) known.add(hash);
    }
  };
}
