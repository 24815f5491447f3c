import { describe, expect, it } from "vitest";
import { filledPolicy } from "../../../lib/mesh/index/fill-traffic-policy.ts";

const simple = { mode: "SIMPLE" as const, sni: "a" };
const off = { mode: "DISABLE" as const };
const random = { simple: "RANDOM" as const };
const port = (number: number, rest: object) => ({ port: { number }, ...rest });

describe("a rule's policy, filled from a policy of the Gateway API", () => {
  it("keeps its blocks whole, and takes those that it lacks", () => {
    const backend = { tls: simple, retryBudget: { percent: 20 } };
    expect(filledPolicy({ loadBalancer: random }, backend)).toEqual({ loadBalancer: random, ...backend });
    expect(filledPolicy({ tls: off }, backend)).toEqual({ tls: off, retryBudget: { percent: 20 } });
  });

  it("is filled port by port, and has the ports of both", () => {
    const rule = { portLevelSettings: [port(80, { loadBalancer: random }), port(81, { tls: off })] };
    const backend = {
      portLevelSettings: [port(80, { tls: simple }), port(81, { tls: simple }), port(82, { tls: simple })],
    };
    expect(filledPolicy(rule, backend)?.portLevelSettings).toEqual([
      port(80, { loadBalancer: random, tls: simple }),
      port(81, { tls: off }),
      port(82, { tls: simple }),
    ]);
  });

  it("is either of them where there is no other", () => {
    expect(filledPolicy(undefined, { tls: simple })).toEqual({ tls: simple });
    expect(filledPolicy({ tls: off }, undefined)).toEqual({ tls: off });
  });
});
