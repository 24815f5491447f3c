import { describe, expect, it } from "vitest";
import type { Identified } from "../../../lib/front/auth/authentication.ts";
import { createKnownTokens } from "../../../lib/front/auth/known-tokens.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { clusterToken, nowMs, testKey } from "./keys.ts";

const found: Identified = { kind: "identified", caller: { kind: "operator", subject: "o" } };

describe("a token that was verified", () => {
  it("is not verified again for a minute, and gives the same caller", async () => {
    const [key, another] = await Promise.all([testKey("k1", "RS256"), testKey("k1", "RS256")]);
    const clock = { nowMs };
    const issuer = { issuer: "https://cluster.test", audience: "portolan", jwks: { keys: [key.publicJwk] } };
    const authentication = readAuthentication(JSON.stringify({ issuers: [issuer] }), { now: () => clock.nowMs });
    const identify = (token: string) => authentication.identify({ header: () => `Bearer ${token}` });
    const token = await clusterToken(key);
    const first = await identify(token);
    expect(first.kind).toBe("identified");
    clock.nowMs += 59_000;
    expect(await identify(token)).toBe(first);
    clock.nowMs += 2_000;
    const again = await identify(token);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
    expect(await identify(await clusterToken(another))).toMatchObject({ status: 401 });
  });

  it("does not hold any longer than it says itself", () => {
    const clock = { nowMs };
    const known = createKnownTokens(() => clock.nowMs);
    known.keep("t", found, nowMs / 1_000 + 10);
    clock.nowMs += 9_999;
    expect(known.of("t")).toBe(found);
    clock.nowMs += 1;
    expect(known.of("t")).toBeUndefined();
  });

  it("is verified again after a minute, although the clock was set back by a day", () => {
    const clock = { nowMs };
    const known = createKnownTokens(() => clock.nowMs);
    known.keep("t", found, nowMs / 1_000 + 3_600);
    clock.nowMs -= 86_400_000;
    expect(known.of("t")).toBe(found);
    clock.nowMs += 60_000;
    expect(known.of("t")).toBeUndefined();
  });

  it("is kept within a bound, and a refusal never is", () => {
    const known = createKnownTokens(() => nowMs, 10_000);
    const far = nowMs / 1_000 + 3_600;
    for (let at = 0; at < 100; at += 1) known.keep(`t${at}`, found, far);
    expect(Array.from({ length: 100 }, (_, at) => known.of(`t${at}`)).filter((one) => one !== undefined)).toHaveLength(
      19,
    );
    known.keep("refused", { kind: "refused", status: 401, reason: "no" }, far);
    expect(known.of("refused")).toBeUndefined();
  });
});
