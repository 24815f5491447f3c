import { describe, expect, it } from "vitest";
import { createAnswerCache } from "../../lib/legacy/answer-cache.ts";
import type { V1Answer } from "../../lib/legacy/v1-request.ts";

const answer = (resources: number): { readonly answer: V1Answer } => ({
  answer: { status: 200, body: "{}", document: { kind: "sds", resources } },
});
const get = (path: string) => ({ method: "GET", path });

describe("the cache of answers", () => {
  it("stores and counts answers with resources only", () => {
    const cache = createAnswerCache(() => 0);
    cache.keep(get("/a"), answer(0));
    cache.keep(get("/b"), answer(1));
    expect(cache.find(get("/a"))).toBeUndefined();
    expect(cache.find(get("/b"))).toBeDefined();
    expect(cache.statistics()).toEqual({ cache_stats: { "/b": { hit: 1, miss: 1 } } });
  });

  it("takes a bar and its escape for one, and other queries for others", () => {
    const cache = createAnswerCache(() => 0);
    cache.keep(get("/a|b"), answer(1));
    expect(cache.find(get("/a%7cb"))).toBeDefined();
    expect(cache.find(get("/a|b?x=1"))).toBeUndefined();
  });

  it("gathers changes within a second of a clearing into one more clearing a second later", () => {
    let nowMs = 0;
    const cache = createAnswerCache(() => nowMs);
    const stored = () => {
      const found = cache.find(get("/a")) !== undefined;
      if (!found) cache.keep(get("/a"), answer(1));
      return found;
    };
    stored();
    cache.clear();
    expect(stored()).toBe(false);
    nowMs = 400;
    cache.clear();
    nowMs = 900;
    cache.clear();
    expect(stored()).toBe(true);
    nowMs = 1399;
    expect(stored()).toBe(true);
    nowMs = 1400;
    expect(stored()).toBe(false);
    expect(stored()).toBe(true);
  });

  it("zeroes counters and keeps what is stored", () => {
    const cache = createAnswerCache(() => 0);
    cache.keep(get("/a"), answer(1));
    cache.resetCounters();
    expect(cache.statistics()).toEqual({ cache_stats: { "/a": { hit: 0, miss: 0 } } });
    expect(cache.find(get("/a"))).toBeDefined();
  });

  it("forgets the URLs that were asked for longest ago when they take more bytes than they may", () => {
    const cache = createAnswerCache(() => 0, 0, 100_000);
    const long = "x".repeat(1_000);
    cache.keep(get("/often"), answer(1));
    for (let at = 0; at < 1_000; at += 1) {
      cache.keep(get(`/${at}?${long}`), answer(1));
      expect(cache.find(get("/often"))).toBeDefined();
    }
    const urls = Object.keys(cache.statistics().cache_stats);
    expect(urls.length).toBeGreaterThan(20);
    expect(urls.join("").length * 2).toBeLessThan(100_000);
    expect(urls).toContain("/often");
    expect(urls).toContain(`/999?${long}`);
  });
});
