import { describe, expect, it } from "vitest";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { envelope } from "../config/a-config.ts";

const rule = (name: string) => `${envelope("DestinationRule", name)}spec: {host: ${name}}\n`;
/** Nobody can read it, and a word in it may belong to a secret. */
const unsearched = (...objects: readonly string[]) => `${objects.join("")}  data: {kind: Secret, a: s3cret}\n x: [\n`;

describe("a document that is left out, since a secret may stand in it", () => {
  it("leaves the last valid forms of its objects in place, also of one that has just moved there, until it can be read", async () => {
    const store = memoryStore();
    const write = createShardWriter(store, "main");
    const served = async () => {
      const { compiled, diagnostics } = await createWorldRecompiler({ store })();
      const codes = diagnostics.map(({ severity, code }) => `${severity} ${code}`).sort();
      return [compiled.loaded.configs.map(({ meta }) => meta.name).sort(), codes];
    };
    await write([
      { file: "a.yaml", text: `${rule("moves")}---\n${rule("stays")}` },
      { file: "b.yaml", text: rule("breaks") },
    ]);
    expect(await served()).toEqual([["breaks", "moves", "stays"], []]);
    await write([
      { file: "a.yaml", text: rule("stays") },
      { file: "b.yaml", text: unsearched(rule("breaks"), rule("moves")) },
    ]);
    expect(await served()).toEqual([
      ["breaks", "moves", "stays"],
      ["error secret-in-source", "warning last-valid-served", "warning last-valid-served"],
    ]);
    await write([
      { file: "a.yaml", text: rule("stays") },
      { file: "b.yaml", text: rule("breaks") },
    ]);
    expect(await served()).toEqual([["breaks", "stays"], []]);
  });
});
