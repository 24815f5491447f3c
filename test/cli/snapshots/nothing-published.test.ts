import { describe, expect, it } from "vitest";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/base/diagnostic.ts";
import { nothingPublished } from "../../../lib/cli/snapshots/nothing-published.ts";
import { createShardWriter } from "../../../lib/compile/shards/write-shard.ts";
import {
  failedOutcome,
  firstNote,
  leaseKey,
  noteText,
  type Outcome,
} from "../../../lib/compile/triggers/lease-note.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const filled = async (outcome?: Outcome) => {
  const store = memoryStore();
  await createShardWriter(store, "main")([{ file: "a.yaml", text: "kind: X" }]);
  if (outcome !== undefined)
    await store.put(leaseKey, new TextEncoder().encode(noteText({ ...firstNote, turn: 1, ended: 1, outcome })));
  return nothingPublished(store);
};

describe("a store without a HEAD", () => {
  it("is not filled", async () => {
    expect((await nothingPublished(memoryStore())).message).toBe(
      "nothing was published yet: no source is filled; `portolan push FOLDER` fills one",
    );
  });

  it("is filled, and not compiled", async () => {
    expect((await filled()).message).toBe(
      "nothing was published yet: sources are filled (main), and nothing has compiled them; " +
        "`portolan recompile` compiles what they hold, and publishes it or reports what is wrong",
    );
  });

  it("tells why the last compile failed, with its diagnostics", async () => {
    const origin = fileOrigin("mesh.yaml", 3);
    const said: Diagnostic = { code: "invalid-value", severity: "error", origin, path: [], message: "no", hint: "" };
    const { message, diagnostics } = await filled(failedOutcome(new PortolanError("the settings have errors", [said])));
    expect(message).toBe(
      "nothing was published yet: sources are filled (main), and the last compile failed: the settings have errors",
    );
    expect(diagnostics).toEqual([said]);
  });
});
