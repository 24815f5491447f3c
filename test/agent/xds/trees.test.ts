import { describe, expect, it } from "vitest";
import { createLocalTrees } from "../../../lib/agent/xds/trees.ts";
import { binaryResources } from "../../../lib/streams/binary-resources.ts";
import { findResource } from "../../../lib/streams/select-resources.ts";
import { local } from "./offers.ts";

const names = Array.from({ length: 1_000 }, (_, at) => `cluster-${at}`);
const many = new Map(names.map((name) => [name, local(name, "1")]));

describe("resources of an agent as a tree", () => {
  it("are sent with each segment put together once, however many of its resources go", async () => {
    const { reader, treeOf } = createLocalTrees();
    const tree = treeOf(many);
    const parts = (await Promise.all(names.map((name) => findResource(reader, tree, name)))).flat();
    let reads = 0;
    const counted = {
      ...reader,
      binaries: (ref: Parameters<typeof reader.binaries>[0]) => {
        reads += 1;
        return reader.binaries(ref);
      },
    };
    const sent = await binaryResources(counted, parts);
    expect(sent.map((bytes) => new TextDecoder().decode(bytes))).toEqual(names.map((name) => `${name}=1`));
    expect(tree.segments.length).toBeGreaterThan(1);
    expect(reads).toBe(tree.segments.length);
  });

  it("are found by one table for each segment, which unchanged resources keep", async () => {
    const { reader, treeOf } = createLocalTrees();
    const [first] = treeOf(many).segments;
    const [again] = treeOf(new Map([...many, ["z", local("z", "1")]])).segments;
    if (first === undefined || again === undefined) throw new Error("there are segments");
    const entries = await reader.entries(first);
    expect(await reader.entries(again)).toBe(entries);
    expect((await reader.binaries(again))?.spans).toBe(entries);
  });
});
