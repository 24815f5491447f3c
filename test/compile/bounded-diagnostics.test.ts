import { describe, expect, it } from "vitest";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { sortDiagnostics } from "../../lib/compile/sort-diagnostics.ts";
import { type Diagnostic, fileOrigin } from "../../lib/config/diagnostic.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { bare, filesOf, networking } from "./pods/manifests.ts";

const long = "n".repeat(1_000_000);
const route = { hosts: ["a"], http: [{ route: [{ destination: { host: "a" } }] }] };

describe("what a compile says of an object", () => {
  it.each([
    ["name", networking("VirtualService", long, route)],
    ["namespace", networking("VirtualService", "a", route, { namespace: long })],
    ["kind", networking(long, "a", {})],
    ["field", networking("VirtualService", "a", { ...route, [long]: 1 })],
    ["value", networking("VirtualService", "a", { hosts: [long], http: [{ timeout: long }] })],
  ])("has a bound, however long its %s is", async (_what, object) => {
    const store = memoryStore();
    await writeShard(store, "main", filesOf([bare("web-0"), object]));
    const { diagnostics } = await createRecompiler({ store })();
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics).length).toBeLessThan(20_000);
  });

  it("is the same object where nothing in it is long", () => {
    const diagnostic: Diagnostic = {
      code: "no-effect",
      severity: "info",
      origin: fileOrigin("a.yaml"),
      path: ["spec", 0],
      message: "m".repeat(4_096),
      hint: "",
    };
    expect(sortDiagnostics([diagnostic])[0]).toBe(diagnostic);
  });
});
