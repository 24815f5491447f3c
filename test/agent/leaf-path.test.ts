import { describe, expect, it } from "vitest";
import { leafPath } from "../../lib/agent/files/leaf-path.ts";
import { hashOf } from "../../lib/base/blob.ts";

describe("leafPath", () => {
  it("stays in its folder, whatever a resource is called, and tells names apart", () => {
    const names = ["../../etc/passwd", "a|b", "a/b", "a_b", ".", "", "x".repeat(500), "ä"];
    const paths = names.map((name) => leafPath("rds", name));
    expect(new Set(paths).size).toBe(names.length);
    for (const [at, path] of paths.entries()) {
      expect(path).toMatch(/^rds\/[A-Za-z0-9][A-Za-z0-9._-]*\.json$|^rds\/-[0-9a-f]{16}\.json$/);
      expect(path).toContain(hashOf(names[at] ?? "").slice(0, 16));
      expect(path.length).toBeLessThan(150);
    }
  });
});
