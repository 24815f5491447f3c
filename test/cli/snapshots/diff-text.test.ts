import { describe, expect, it } from "vitest";
import { diffLines } from "../../../lib/cli/snapshots/diff-text.ts";
import type { WorldDiff } from "../../../lib/snapshot/worlds/diff-worlds.ts";

const services = Array.from({ length: 400 }, (_, i) => `Service/shop/s${i}`);

/** A route table of some objects, in which one weight is another. */
const diffOf = (from: readonly string[]): WorldDiff => ({
  classesAdded: [],
  classesRemoved: [],
  classesMoved: [],
  resources: [
    {
      shapes: ["stream"],
      type: "routes",
      name: "80",
      change: "changed",
      classes: ["sidecar-1"],
      from,
      places: [{ path: "virtualHosts[0].routes[0].weight", before: 1, after: 2 }],
    },
  ],
});

const originsOf = (from: readonly string[]) =>
  diffLines(diffOf(from), new Map([["VirtualService/shop/v", "v.yaml:3"]]))[2];

describe("the objects behind a resource that differs", () => {
  it("are all named where they are few, in their order", () => {
    expect(originsOf(["Service/shop/s1", "VirtualService/shop/v"])).toBe(
      "    from Service/shop/s1, VirtualService/shop/v (v.yaml:3)",
    );
  });

  it("are a line that can be read where they are many: what routes are written in comes first", () => {
    const line = originsOf([...services, "VirtualService/shop/v"]);
    expect(line).toMatch(/^ {4}from VirtualService\/shop\/v \(v\.yaml:3\), Service\/shop\/s0, .* and 389 more$/);
    expect(line?.length).toBeLessThan(400);
  });
});
