import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const program = new URL("growth-child.ts", import.meta.url).pathname;

/** By so much the work grows where the input is four times as long: by 4 where each element costs the same, by 16 where each meets all others. */
const mostGrowth = 5.5;

describe("the work of a compile", () => {
  it("grows as the number of a VirtualService's hosts, of an EnvoyFilter's patches and of a List's faulty items", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const { square, ...growth }: Readonly<Record<string, number>> = JSON.parse(stdout);
    expect(Object.keys(growth)).toEqual(["hosts", "patches", "items"]);
    for (const [name, times] of Object.entries(growth)) {
      expect(times, name).toBeGreaterThan(1);
      expect(times, name).toBeLessThan(mostGrowth);
    }
    // What does grow so is seen to.
    expect(square).toBeGreaterThan(mostGrowth * 2);
  }, 180_000);
});
