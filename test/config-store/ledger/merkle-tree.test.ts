import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changeTree,
  diffTrees,
  findInTree,
  listTree,
  type TreeNode,
} from "../../../lib/config-store/ledger/merkle-tree.ts";
import { propertyRuns } from "../../soak-options.ts";

/** Nodes in memory, and how many of them were read. */
function memoryNodes() {
  const nodes = new Map<string, TreeNode>();
  let reads = 0;
  return {
    reads: () => reads,
    source: {
      async load(hash: string): Promise<TreeNode> {
        reads++;
        const node = nodes.get(hash);
        if (node === undefined) throw new Error(`no node ${hash}`);
        return node;
      },
    },
    keep: (made: ReadonlyMap<string, TreeNode>) => {
      for (const [hash, node] of made) nodes.set(hash, node);
    },
  };
}

type Change = readonly [key: string, value: string | undefined];
const key = fc.integer({ min: 0, max: 200 }).map((number) => `VirtualService/default/vs-${number}`);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(9).map(String), { nil: undefined })), {
  maxLength: 120,
});

async function apply(nodes: ReturnType<typeof memoryNodes>, root: string, batch: readonly Change[]): Promise<string> {
  const made = await changeTree(nodes.source, root, new Map(batch));
  nodes.keep(made.nodes);
  return made.root;
}

const contentOf = (batches: readonly (readonly Change[])[]) => {
  const content = new Map<string, string>();
  for (const [name, value] of batches.flat()) {
    if (value === undefined) content.delete(name);
    else content.set(name, value);
  }
  return [...content].sort(([a], [b]) => (a < b ? -1 : 1));
};

describe("the Merkle tree", () => {
  it("holds what was put into it, and its root follows from the content alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(changes, { maxLength: 6 }), async (batches) => {
        const nodes = memoryNodes();
        let root = "";
        for (const batch of batches) root = await apply(nodes, root, batch);
        const content = contentOf(batches);
        expect(await listTree(nodes.source, root)).toEqual(content);
        for (const [name, value] of content) expect(await findInTree(nodes.source, root, name)).toBe(value);

        const other = memoryNodes();
        const direct = await apply(other, "", content);
        if (batches.length > 0) expect(root).toBe(direct);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it("finds exactly what differs between two versions", async () => {
    await fc.assert(
      fc.asyncProperty(changes, changes, async (first, second) => {
        const nodes = memoryNodes();
        const before = await apply(nodes, "", first);
        const after = await apply(nodes, before, second);
        const old = new Map(contentOf([first]));
        const current = new Map(contentOf([first, second]));
        const keys = [...new Set([...old.keys(), ...current.keys()])].sort();
        const want = keys
          .filter((name) => old.get(name) !== current.get(name))
          .map((name) => ({ key: name, before: old.get(name), after: current.get(name) }));
        expect(await diffTrees(nodes.source, before, after)).toEqual(want);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it("writes and reads a path for one change, however many entries there are", async () => {
    const cost = async (size: number) => {
      const nodes = memoryNodes();
      const entries = Array.from(
        { length: size },
        (_, index): Change => [`Gateway/default/g-${index}`, "0".repeat(64)],
      );
      const root = await apply(nodes, "", entries);
      const readsBefore = nodes.reads();
      const made = await changeTree(nodes.source, root, new Map([["Gateway/default/g-7", "1".repeat(64)]]));
      nodes.keep(made.nodes);
      const readsForChange = nodes.reads() - readsBefore;
      await diffTrees(nodes.source, root, made.root);
      return { written: made.nodes.size, read: readsForChange, diffed: nodes.reads() - readsBefore - readsForChange };
    };
    const [small, large] = [await cost(100), await cost(10_000)];
    expect(small.written).toBeLessThanOrEqual(3);
    expect(large.written).toBeLessThanOrEqual(6);
    expect(large.read).toBeLessThanOrEqual(6);
    expect(large.diffed).toBeLessThanOrEqual(12);
  });
});
