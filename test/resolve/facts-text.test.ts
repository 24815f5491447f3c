import { describe, expect, it } from "vitest";
import { factsText } from "../../lib/resolve/fill-source.ts";

const known = (length: number, more: object = {}) => ({
  jwks: "x".repeat(length),
  triedMs: 0,
  failures: 0,
  failed: 0,
  wantedMs: 0,
  ...more,
});

describe("factsText", () => {
  it("has room for what is wanted before what is not", () => {
    const mebibyte = 1024 * 1024;
    const unwanted = ["a", "b"].map((name) => [`uri https://${name}`, known(mebibyte)] as const);
    const wanted = ["v", "w", "x", "y", "z"].map(
      (name) => [`uri https://${name}`, known(mebibyte, { sinceMs: 0 })] as const,
    );
    const { resolved } = JSON.parse(factsText(new Map([...unwanted, ...wanted]), new Map()));
    expect(resolved.jwks.map(({ jwksUri }: { readonly jwksUri: string }) => jwksUri.at(-1)).join("")).toBe("avwxyz");
  });

  it("is the same empty text whether nothing is known or nothing was found", () => {
    expect(factsText(new Map(), new Map())).toBe("{}\n");
    const failed = { triedMs: 0, failures: 1, failed: 1, wantedMs: 0 };
    expect(factsText(new Map([["uri https://x", failed]]), new Map())).toBe("{}\n");
  });
});
