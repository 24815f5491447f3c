import { describe, expect, it } from "vitest";
import type { AskDns } from "../../lib/resolve/ask-dns.ts";
import { afterAnswer, type HostState, lookUpHost } from "../../lib/resolve/look-up-host.ts";

const minute = 60_000;

/** What is in force after each of these answers, a minute apart. */
function inForce(answers: readonly string[], everyMs = minute): readonly string[] {
  let state: HostState = {};
  return answers.map((answer, at) => {
    state = afterAnswer(state, new Set(answer.split(" ")), { nowMs: at * everyMs, recentMs: 10 * minute });
    return (state.addresses ?? []).join(" ");
  });
}

describe("addresses of a host after an answer", () => {
  it("are those of the answer, sorted, so that one in another order is none", () => {
    expect(inForce(["b a", "a b"])).toEqual(["a b", "a b"]);
  });

  it("leave an address with the answer that has it no more", () => {
    expect(inForce(["a", "b", "b"])).toEqual(["a", "b", "b"]);
    expect(inForce(["a b c", "b c d"])).toEqual(["a b c", "b c d"]);
  });

  it("settle on all of them where a name gives them in turns", () => {
    expect(inForce(["a", "b", "a", "b", "a", "b"])).toEqual(["a", "b", "a b", "a b", "a b", "a b"]);
    const ofEight = Array.from({ length: 80 }, (_, at) => String(at % 8));
    expect(new Set(inForce(ofEight).slice(16)).size).toBe(1);
  });

  it("are the answer's again when the turns have ended", () => {
    const ended = inForce(["a", "b", "a", ...Array.from({ length: 12 }, () => "a")]);
    expect(ended[2]).toBe("a b");
    expect(ended.at(-1)).toBe("a");
  });

  it("are 32 at most, and those in force stay", () => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => String(from + at).padStart(3, "0")).join(" ");
    const [first = "", second = ""] = inForce([many(10, 32), `${many(0, 10)} ${many(10, 32)}`]);
    expect(second).toBe(first);
  });

  it("do not stay longer where the clock was set back", () => {
    const ahead: HostState = { addresses: ["a"], seen: { a: 90 * minute } };
    const { seen = {} } = afterAnswer(ahead, new Set(["b"]), { nowMs: minute, recentMs: 10 * minute });
    expect(seen).toEqual({ a: minute, b: minute });
  });
});

describe("looking up a host", () => {
  const asking = (askDns: AskDns) => ({ askDns, signal: new AbortController().signal, nowMs: 0, intervalMs: 0 });
  const record = (address: string, ttlSeconds: number) => ({ address, ttlSeconds });

  it("has both families, in one spelling, and nothing that is no address of theirs", async () => {
    const found = await lookUpHost(
      "gw.example",
      {},
      asking(async (_host, type) =>
        type === "A"
          ? [record("192.0.2.7", 60), record("0.0.0.0", 60), record("name.example", 60), record("2001:db8::9", 60)]
          : [record("2001:DB8:0::1", 90)],
      ),
    );
    expect(found).toMatchObject({ addresses: ["192.0.2.7", "2001:db8::1"], ttlMs: 60_000 });
  });

  it.each([
    [0, 10_000],
    [45, 45_000],
    [86_400, 600_000],
  ])("believes a record of %i s for %i ms", async (ttlSeconds, ttlMs) => {
    const found = await lookUpHost(
      "gw.example",
      {},
      asking(async (_, type) => (type === "A" ? [record("192.0.2.7", ttlSeconds)] : [])),
    );
    expect(found.ttlMs).toBe(ttlMs);
  });

  it("keeps the addresses of a family that is not answered, and says so", async () => {
    const before = { addresses: ["192.0.2.7", "2001:db8::1"], seen: { "192.0.2.7": 0, "2001:db8::1": 0 } };
    const found = await lookUpHost(
      "gw.example",
      before,
      asking(async (_, type) => {
        if (type === "AAAA") throw new Error("no name server answers");
        return [record("192.0.2.8", 60)];
      }),
    );
    expect(found).toMatchObject({ addresses: ["192.0.2.8", "2001:db8::1"], problem: "no name server answers" });
  });

  it("fails where nobody answers, and where there is no address", async () => {
    const silent: AskDns = async () => {
      throw new Error("no name server answers");
    };
    await expect(lookUpHost("gw.example", {}, asking(silent))).rejects.toThrow("no name server answers");
    await expect(
      lookUpHost(
        "gw.example",
        {},
        asking(async () => []),
      ),
    ).rejects.toThrow("DNS has no address for gw.example");
  });
});
