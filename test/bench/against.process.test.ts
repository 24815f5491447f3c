import { describe, expect, it } from "vitest";
import { commandsOf, comparedRows, problemOfFolder } from "./against.ts";

describe("two checkouts, in turns", () => {
  it("are compared by the best turn of each row that both have, whatever its counts", () => {
    const turn = (ms: number, running: number, counts: string) => ({
      "One proxy (15 cases)": [
        { "": `http (${counts})`, ms, running },
        { "": "a row of words", ms: "none" },
      ],
    });
    const here = [turn(3, 4, "105/101"), turn(2, 5, "105/101")];
    const there = [turn(4, 4, "104/101"), turn(8, 2, "104/101")];
    expect(comparedRows(here, there)).toEqual([
      {
        "": "http",
        here: 2,
        there: 4,
        "here / there": 0.5,
        "running here": 4,
        "running there": 2,
        "here / there, running": 2,
      },
    ]);
    expect(comparedRows(here, [{ "Another table": [{ "": "http", ms: 1, running: 1 }] }])).toEqual([]);
  });

  it("run each size of the mesh by itself, so that both are measured soon after each other", () => {
    expect(commandsOf(["mesh", "fleet"], { services: [100, 1000], quick: true })).toEqual([
      ["mesh", "--services", "100", "--quick"],
      ["mesh", "--services", "1000", "--quick"],
      ["fleet", "--quick"],
    ]);
  });

  it("says of a folder without benchmarks that it has none", () => {
    expect(problemOfFolder("/nowhere")).toBe("--against /nowhere: there is no test/bench/run.ts");
    expect(problemOfFolder(".")).toBeUndefined();
  });
});
