import { beforeAll, describe, expect, it } from "vitest";
import { brokenOnes, type MadeResource, polledResources, violationOf } from "./constraints.ts";
import { complaint } from "./constraints-envoy.ts";

describe("the constraints of Envoy's protos", () => {
  let made: readonly MadeResource[] = [];
  beforeAll(() => {
    made = polledResources();
  }, 60_000);

  it("hold in everything that is made for the recorded cases", () => {
    const violated = made.flatMap((one) => {
      const violation = violationOf(one);
      return violation === undefined ? [] : [`${one.type} ${one.name} ${violation.path.join(".")} ${violation.reason}`];
    });
    expect(violated).toEqual([]);
    expect(made.length).toBeGreaterThan(500);
  });

  it("are Envoy's: it refuses what breaks one, and takes what that was made from", () => {
    // Every twentieth has most of the fields that any has.
    const broken = brokenOnes(made.filter((_, at) => at % 20 === 0));
    expect(broken.length).toBeGreaterThan(40);
    const sound = new Map(broken.map((one) => [JSON.stringify(one.sound.json), one.sound]));
    expect([...sound.values()].map(complaint).filter((words) => words !== "")).toEqual([]);
    expect(broken.filter((one) => complaint(one.broken) === "").map(({ what }) => what)).toEqual([]);
  }, 400_000);
});
