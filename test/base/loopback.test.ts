import { describe, expect, it } from "vitest";
import { isLoopback, leadsToLoopback } from "../../lib/base/loopback.ts";

describe("a host of this machine's own", () => {
  it.each(["localhost", "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"])("is %s", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    "",
    "0.0.0.0",
    "::",
    "128.0.0.1",
    "127.0.0.1.example.com",
    "127.0.0",
    "localhost.example.com",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "::ffff:7f00:1:1",
  ])("is not %j", (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it("is where a URL leads, however it writes an address", () => {
    const isHere = (url: string) => leadsToLoopback(new URL(url));
    expect(
      ["http://LOCALHOST:1/", "http://[::1]:1", "http://[::ffff:127.0.0.1]/", "http://2130706433"].map(isHere),
    ).toEqual([true, true, true, true]);
    expect(isHere("http://127.0.0.1.example.com")).toBe(false);
  });
});
