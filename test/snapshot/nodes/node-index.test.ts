import fc from "fast-check";
import { expect, it } from "vitest";
import type { CompiledNode } from "../../../lib/snapshot/compiled.ts";
import { createNodeIndexEncoder } from "../../../lib/snapshot/nodes/node-index.ts";
import { propertyRuns } from "../../soak-options.ts";

const hashes = (nodes: readonly CompiledNode[], encode = createNodeIndexEncoder()) => {
  const { refs, list, blobs } = encode(nodes);
  return { refs, list, blobs: blobs.map(({ hash }) => hash) };
};

it("is the same whatever was encoded before", () => {
  const key = fc.integer({ min: 0, max: 3_000 }).map((number) => `pod-${number}.default`);
  const node = fc.record(
    {
      keys: fc.array(key, { maxLength: 3 }),
      classId: fc.constantFrom("a", "b"),
      clusterId: fc.constantFrom("one", "two", "three"),
    },
    { requiredKeys: ["keys", "classId"] },
  );
  const nodes = fc.array(node, { maxLength: 2_000, size: "max" });
  fc.assert(
    fc.property(nodes, fc.nat(), fc.nat(3), fc.array(node, { maxLength: 3 }), (before, place, gone, come) => {
      const encode = createNodeIndexEncoder();
      const now = before.toSpliced(place % (before.length + 1), gone, ...come);
      for (const list of [before, now, [], before]) expect(hashes(list, encode)).toEqual(hashes(list));
    }),
    { numRuns: propertyRuns(60) },
  );
});

it("takes the pieces that a change of one node leaves alone", () => {
  const nodes = Array.from({ length: 4_000 }, (_, at) => ({ keys: [`pod-${at}.default`], classId: "a" }));
  const encode = createNodeIndexEncoder();
  const before = encode(nodes);
  const { blobs } = encode(nodes.with(1_234, { keys: ["pod-1234.default"], classId: "b" }));
  expect(before.blobs.length).toBeGreaterThan(10);
  // The list of the pieces, and the one that the node is in.
  expect(blobs.filter((blob) => !before.blobs.includes(blob))).toHaveLength(2);
});
