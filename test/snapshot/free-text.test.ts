import { describe, expect, it } from "vitest";
import { blobKey, jsonBlob } from "../../lib/base/blob.ts";
import { cutText, maxFreeTextBytes } from "../../lib/snapshot/free-text.ts";
import { readHistory } from "../../lib/snapshot/head/history/history.ts";
import { moveHead } from "../../lib/snapshot/head/move-head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe("a free text", () => {
  it.each([
    ["as long as it may be", "a".repeat(10), "a".repeat(10)],
    ["one byte too long", "a".repeat(11), `${"a".repeat(7)}…`],
    ["of long characters that fits", "äöü", "äöü"],
    ["of long characters", "äöüäöü", "äöü…"],
    ["that would be cut within a pair", "aaaa😀😀", "aaaa…"],
    ["of halves of pairs", "\ud800".repeat(9), "\ud800\ud800…"],
  ])("is cut between characters, to its bound in bytes: %s", (_what, text, want) => {
    expect(cutText(text, 10)).toBe(want);
    expect(bytesOf(cutText(text, 10))).toBeLessThanOrEqual(10);
  });

  it("has a bound in HEAD and in the history, whoever moves HEAD", async () => {
    const store = memoryStore();
    const long = "w".repeat(5_000_000);
    const pin = { by: long, why: long, since: "2026-01-01T00:00:00.000Z" };
    const steps = [{ root: "r", at: "2026-01-01T00:00:00.000Z" }];
    const head = await moveHead(store, undefined, { steps, pin, reason: "rollback", by: long, why: long }, 0);
    expect(bytesOf(JSON.stringify(head))).toBeLessThan(10_000);
    const found = await store.get(blobKey(head?.publication ?? ""));
    expect(found.kind === "found" && found.bytes.length).toBeLessThan(5_000);
  });

  it("of a history that an earlier version wrote is read no longer than it may be", async () => {
    const store = memoryStore();
    const why = "w".repeat(1_000_000);
    const at = "2026-01-01T00:00:00.000Z";
    const entry = jsonBlob({ generation: 1, root: "r", parent: "", at, reason: "publish", why });
    await store.put(blobKey(entry.hash), entry.bytes);
    const lengths: number[] = [];
    for await (const read of readHistory(createSnapshotReader(store), entry.hash))
      lengths.push(bytesOf(read.why ?? ""));
    expect(lengths).toEqual([maxFreeTextBytes.why]);
  });
});
