import { describe, expect, it } from "vitest";
import { soakSeed } from "../soak-options.ts";
import { attack, attackClasses } from "./attack.ts";

/** A small one. `npm run attack` sends a hundred thousand and looks closely at memory, which takes so many to become steady. */
const requests = 2_000;

describe("a server under attack", () => {
  it("answers everybody as he deserves, blames nobody else, and never mistakes a node for another", async () => {
    const report = await attack({ requests, seed: soakSeed(7), maxMs: 240_000, maxGrowthMb: Number.POSITIVE_INFINITY });
    console.log(`${report.requests} requests in ${report.seconds} s, memory in MB ${JSON.stringify(report.memory)}`);
    expect(report.failures).toEqual([]);
    expect(report.requests).toBeGreaterThanOrEqual(requests);
    expect(report.classes.filter((one) => one.requests === 0)).toEqual([]);
    expect(report.attacked.polls).toBeGreaterThan(10);
    // Far below what any of the former holes took.
    for (const { peak } of Object.values(report.memory)) if (!Number.isNaN(peak)) expect(peak).toBeLessThan(700);
  }, 300_000);

  it("is attacked over every transport", () => {
    const transports = new Set(attackClasses.map(({ transport }) => transport));
    expect([...transports].sort().join()).toBe("Connect,HTTP/1.1,HTTP/2,REST,gRPC,gRPC-Web,objects,stream,v1,webhook");
  });
});
