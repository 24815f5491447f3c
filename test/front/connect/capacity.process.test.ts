import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { capacityIn } from "../../../lib/front/connect/capacity.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { testFront } from "../fixtures.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve, 1));

/** A call with a message of so many bytes, whose answer takes ten. */
function caller(front: ReturnType<typeof testFront>["front"], bytes: number) {
  const gone = new AbortController();
  const { capacity, asked, leave } = capacityIn(front, gone.signal);
  asked(bytes);
  const state: { now: "waits" | "in" | Code } = { now: "waits" };
  capacity(10).then(
    () => {
      state.now = "in";
    },
    ({ code }) => {
      state.now = code;
    },
  );
  return { state, leave, hangUp: () => gone.abort() };
}

describe("room for an answer", () => {
  it("is waited for by as many as their messages fit in memory; whoever waits longest gives way", async () => {
    const { front } = testFront({ limits: { ...limits, answersBytes: 10, bodiesBytes: 1_000 } });
    const first = caller(front, 600);
    const [second, third] = [caller(front, 600), caller(front, 600)];
    await settled();
    expect([first, second, third].map(({ state }) => state.now)).toEqual(["in", Code.Unavailable, "waits"]);
    first.leave();
    await settled();
    expect(third.state.now).toBe("in");
  });

  it("is not waited for by whoever hung up", async () => {
    const { front } = testFront({ limits: { ...limits, answersBytes: 10 } });
    const first = caller(front, 1);
    const second = caller(front, 1);
    second.hangUp();
    await settled();
    expect([first.state.now, second.state.now]).toEqual(["in", Code.Canceled]);
  });
});
