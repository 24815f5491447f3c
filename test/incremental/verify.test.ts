import { describe, expect, it } from "vitest";
import { beginRevision } from "../../lib/incremental/cache-entries.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { query } from "../../lib/incremental/query.ts";
import { trackedQuery } from "../../lib/incremental/tracked-query.ts";

interface Port {
  readonly port: number;
}

/** What a body should not read. */
const beside = { suffix: "a" };
const name = query("test: reads beside its inputs", ({ port }: Port) => ({ names: new Map([[port, beside.suffix]]) }));
const tracked = trackedQuery("test: tracked, reads beside", (_: Port, source: { readonly host: string }) => [
  source.host + beside.suffix,
]);
const sum = query("test: sum", ({ ports }: { readonly ports: readonly number[] }) => ports.reduce((a, b) => a + b, 0));

describe("a memo that verifies", () => {
  it.each([
    ["a query", (memo: ReturnType<typeof createMemo>) => name(memo, { port: 1 })],
    ["a tracked query", (memo: ReturnType<typeof createMemo>) => tracked(memo, { port: 1 }, { host: "h" })],
  ])("finds out that %s reads what is not among its inputs", (_, read) => {
    const memo = createMemo({ verifies: true });
    beside.suffix = "a";
    read(memo);
    read(memo);
    beside.suffix = "b";
    beginRevision(memo);
    expect(() => read(memo)).toThrow(/^query test: .* has another result for the same inputs \(result\..*\)/);
    expect(read(createMemo())).toEqual(read(createMemo()));
  });

  it("finds out that an input was changed in place", () => {
    const memo = createMemo({ verifies: true });
    const ports = [1, 2];
    expect(sum(memo, { ports })).toBe(3);
    ports.push(3);
    beginRevision(memo);
    expect(() => sum(memo, { ports })).toThrow("changed in place");
  });
});
