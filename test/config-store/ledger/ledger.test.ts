import { describe, expect, it } from "vitest";
import { openLedger } from "../../../lib/config-store/ledger/ledger.ts";
import type { LedgerStore } from "../../../lib/config-store/ledger/ledger-port.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const info = (author: string) => ({ author, message: "test", timeMs: 0 });

describe("the ledger", () => {
  it("starts empty, and every version stays readable", async () => {
    const ledger = openLedger(memoryStore(), "config");
    expect(await ledger.head()).toEqual({ root: "", revision: 0, commit: "" });
    await ledger.write([{ key: "a", text: "one" }], info("x"));
    const first = await ledger.head();
    await ledger.write(
      [
        { key: "a", text: "two" },
        { key: "b", text: "new" },
      ],
      info("x"),
    );
    const second = await ledger.head();
    expect((await ledger.get(first.root, "a"))?.text).toBe("one");
    expect((await ledger.get(second.root, "a"))?.text).toBe("two");
    expect(await ledger.get(first.root, "b")).toBeUndefined();
    expect((await ledger.diff(first.root, second.root)).map(({ key }) => key)).toEqual(["a", "b"]);
    expect((await ledger.history(10)).map(({ revision, keys }) => [revision, keys])).toEqual([
      [2, ["a", "b"]],
      [1, ["a"]],
    ]);
  });

  it.each(["{", '{"kind":"leaf","entries":[["a"]]}', '{"kind":"branch","size":1,"children":[]}'])(
    "says so where a node is none of its own: %s",
    async (text) => {
      const store = memoryStore();
      await openLedger(store, "config").write([{ key: "a", text: "one" }], info("x"));
      const { root } = await openLedger(store, "config").head();
      await store.put(`config/nodes/${root}`, new TextEncoder().encode(text));
      await expect(openLedger(store, "config").get(root, "a")).rejects.toThrow(
        "the ledger holds something that is none of its own",
      );
    },
  );

  it("makes no commit of a write that changes nothing", async () => {
    const ledger = openLedger(memoryStore(), "config");
    await ledger.write([{ key: "a", text: "one" }], info("x"));
    const before = await ledger.head();
    await ledger.write([{ key: "a", text: "one" }], info("x"));
    expect(await ledger.head()).toEqual(before);
  });

  it("says who won when a key is not as expected", async () => {
    const ledger = openLedger(memoryStore(), "config");
    await ledger.write([{ key: "a", text: "one" }], info("anna"));
    await ledger.write([{ key: "b", text: "other" }], info("bert"));
    const result = await ledger.write([{ key: "a", text: "two", expected: { hash: undefined } }], info("carl"));
    expect(result).toMatchObject({ kind: "conflict", key: "a", winner: { author: "anna", revision: 1 } });
    expect((await ledger.head()).revision).toBe(2);
  });

  it("loses no update of fifty writers at once", async () => {
    const store = memoryStore();
    const writers = Array.from({ length: 50 }, (_, writer) => writer);
    await Promise.all(
      writers.map(async (writer) => {
        const ledger = openLedger(store, "config");
        for (let update = 0; update < 20; update++) {
          const text = `${writer}/${update}`;
          const result = await ledger.write([{ key: `k${writer}-${update}`, text }], info(String(writer)));
          expect(result.kind).toBe("written");
        }
      }),
    );
    const ledger = openLedger(store, "config");
    const head = await ledger.head();
    expect(head.revision).toBe(1000);
    expect(await ledger.list(head.root)).toHaveLength(1000);
    const history = await ledger.history(2000);
    expect(history.map(({ revision }) => revision)).toEqual(Array.from({ length: 1000 }, (_, index) => 1000 - index));
    expect(new Set(history.flatMap(({ keys }) => keys)).size).toBe(1000);
  });

  it("counts up one shared key as if its writers had come one after another", async () => {
    const store = memoryStore();
    const ledger = openLedger(store, "config");
    await ledger.write([{ key: "n", text: "0" }], info("x"));
    const increment = async (): Promise<void> => {
      const found = await ledger.get((await ledger.head()).root, "n");
      const change = { key: "n", text: String(Number(found?.text) + 1), expected: { hash: found?.hash } };
      if ((await ledger.write([change], info("x"))).kind === "conflict") await increment();
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await ledger.get((await ledger.head()).root, "n"))?.text).toBe("20");
  });

  it("leaves the old version whole when a write breaks off at any point", async () => {
    const base = memoryStore();
    const whole = openLedger(base, "config");
    for (let index = 0; index < 40; index++) await whole.write([{ key: `k${index}`, text: "old" }], info("x"));
    const before = await whole.head();
    for (let allowed = 0; allowed < 8; allowed++) {
      let puts = 0;
      const failing: LedgerStore = {
        get: (key) => base.get(key),
        put: async (key, bytes, condition) => {
          if (puts++ >= allowed || key.endsWith("/head")) throw new Error("the wire is cut");
          return base.put(key, bytes, condition);
        },
      };
      await expect(
        openLedger(failing, "config").write([{ key: "k7", text: `new ${allowed}` }], info("y")),
      ).rejects.toThrow();
      expect(await whole.head()).toEqual(before);
      expect((await whole.list(before.root)).length).toBe(40);
    }
    await whole.write([{ key: "k7", text: "new" }], info("z"));
    expect((await whole.get((await whole.head()).root, "k7"))?.text).toBe("new");
  });
});
