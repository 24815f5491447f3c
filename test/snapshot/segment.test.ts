import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOf } from "../../lib/base/blob.ts";
import type { CompiledResource } from "../../lib/snapshot/compiled.ts";
import { cutSegments, decodeSegment, encodeSegment, readSpans } from "../../lib/snapshot/segment.ts";
import { collectAll } from "../collect-garbage.ts";
import { resource } from "./worlds.ts";

const many = (count: number, size = 1_000) =>
  Array.from({ length: count }, (_, i) =>
    resource("clusters", `outbound|80||service-${String(i).padStart(5, "0")}.default`, "x".repeat(size)),
  );

/** A run with its blobs at hand. */
function stored(list: readonly CompiledResource[]) {
  const { ref, blobs } = encodeSegment(list);
  const [bytes = new Uint8Array(), binary = new Uint8Array()] = blobs.map((blob) => blob.make());
  return { ref, bytes, binary };
}

const resources = fc
  .uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), content: fc.string({ unit: "grapheme" }) }), {
    selector: ({ name }) => name,
    minLength: 1,
  })
  .map((list) => list.map(({ name, content }) => resource("routes", name, content)));

describe("segments", () => {
  it("are about 16 KiB, few of them much less, none much more than twice that", () => {
    const runs = cutSegments(many(2_000));
    const lengths = runs.map((run) => run.reduce((sum, { text }) => sum + text.length, 0));
    const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    expect(average).toBeGreaterThan(13_000);
    expect(average).toBeLessThan(20_000);
    expect(Math.max(...lengths)).toBeLessThan(35_000);
    expect(lengths.filter((length) => length < 8_000).length).toBeLessThan(lengths.length / 4);
  });

  it("hold every resource once, in order", () => {
    fc.assert(
      fc.property(resources, (list) => {
        expect(cutSegments(list).flat()).toEqual(list);
      }),
    );
  });

  it("change where one resource changes, comes or goes, and nowhere else", () => {
    const before = many(1_000);
    const hashes = (list: typeof before) => new Set(cutSegments(list).map((run) => encodeSegment(run).ref.hash));
    const old = hashes(before);
    for (const after of [
      before.with(500, resource("clusters", before[500]?.name ?? "", "y")),
      before.toSpliced(300, 1),
      before.toSpliced(300, 0, resource("clusters", `${before[299]?.name}a`, "new")),
    ]) {
      expect([...hashes(after)].filter((hash) => !old.has(hash)).length).toBeLessThanOrEqual(3);
    }
  });

  it("come back as they were encoded", () => {
    fc.assert(
      fc.property(resources, (list) => {
        const { ref, bytes } = stored(list);
        expect(decodeSegment(ref, bytes)).toEqual(list);
        expect(ref.hash).toBe(hashOf(bytes));
        expect(ref.bodyOffset + ref.bodyBytes).toBe(bytes.length);
      }),
    );
  });

  it("have a body that is a JSON list but for its brackets", () => {
    fc.assert(
      fc.property(resources, (list) => {
        const { ref, bytes } = stored(list);
        const body = new TextDecoder().decode(bytes.subarray(ref.bodyOffset, ref.bodyOffset + ref.bodyBytes));
        expect(JSON.parse(`[${body}]`)).toEqual(list.map(({ text }) => JSON.parse(text)));
        expect(body.length === 0 || body.split("\n").length === list.length).toBe(true);
      }),
    );
  });

  it("keep binary forms in a blob of their own, where every resource has one", () => {
    const list = [resource("routes", "a", "1"), resource("routes", "b", "2")].map((plain, i) => ({
      ...plain,
      binary: new Uint8Array([i, 255, 10]),
    }));
    const { ref, bytes, binary } = stored(list);
    expect(decodeSegment(ref, bytes, binary)).toEqual(list);
    expect(ref.binary?.hash).toBe(hashOf(binary));
    expect(encodeSegment([...list, resource("routes", "c", "3")]).ref.binary).toBeUndefined();
  });

  it("say where each resource lies", () => {
    const list = [resource("routes", "a", "ä"), resource("routes", "b", "€uro"), resource("routes", "c", "")];
    const { ref, bytes } = stored(list);
    const texts = readSpans(ref, bytes).map(({ offset, bytes: length }) =>
      new TextDecoder().decode(bytes.subarray(offset, offset + length)),
    );
    expect(texts).toEqual(list.map(({ text }) => text));
  });

  it("are made again as they were when nobody holds them any more", async () => {
    const [list = []] = cutSegments(many(20));
    const { ref, blobs } = encodeSegment(list);
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collectAll();
      expect(blobs.map(({ make }) => hashOf(make()))).toEqual([ref.hash]);
    }
  });
});
