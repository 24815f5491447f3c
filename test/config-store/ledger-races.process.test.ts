import { describe, expect, it } from "vitest";
import { createLedgerStore, type LedgerConfigStore } from "../../lib/config-store/ledger-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { aConfig } from "../config/a-config.ts";

const options = { prefix: "config", author: "anna", now: () => 0 };
const rule = (host: string) => aConfig("DestinationRule", "a", `{host: ${host}}`);
const deleteRule = (store: LedgerConfigStore) => store.delete("DestinationRule", "a", "default");

/** A writer that has read everything that it needs when somebody else does something. */
async function overtaken(meanwhile: (other: LedgerConfigStore) => Promise<unknown>): Promise<LedgerConfigStore> {
  const objects = memoryStore();
  const other = createLedgerStore(objects, { ...options, author: "bert" });
  await other.create(rule("first"));
  let isOvertaken = false;
  const put: ObjectStore["put"] = async (key, bytes, condition) => {
    if (key.endsWith("/head") && !isOvertaken) {
      isOvertaken = true;
      await meanwhile(other);
    }
    return objects.put(key, bytes, condition);
  };
  return createLedgerStore({ ...objects, put }, options);
}

const replace = { kind: "put", config: rule("mine"), if: "present" } as const;

describe("an object that is deleted while somebody replaces it", () => {
  it("stays deleted, by a batch", async () => {
    const store = await overtaken(deleteRule);
    const result = await store.writeAll([replace], "replace");
    expect(result).toEqual({ kind: "refused", key: "DestinationRule/default/a", result: { kind: "missing" } });
    expect(await store.list("DestinationRule")).toEqual([]);
  });

  it("stays deleted in a batch of many, of which nothing is written", async () => {
    const store = await overtaken(deleteRule);
    const others = Array.from({ length: 20 }, (_, i) => aConfig("DestinationRule", `b${i}`, "{host: b}"));
    const created = others.map((config) => ({ kind: "put", config }) as const);
    expect(await store.writeAll([...created, replace], "replace")).toMatchObject({ result: { kind: "missing" } });
    expect(await store.list("DestinationRule")).toEqual([]);
  });

  it("stays deleted, by an update, and a second deletion finds it missing", async () => {
    const store = await overtaken(deleteRule);
    expect(await store.update(rule("mine"))).toEqual({ kind: "missing" });
    expect(await store.list("DestinationRule")).toEqual([]);
    const late = await overtaken(deleteRule);
    expect(await deleteRule(late)).toEqual({ kind: "missing" });
  });
});

describe("an object that is changed while somebody replaces it", () => {
  it("is replaced, where no revision was read", async () => {
    const store = await overtaken((other) => other.update(rule("theirs")));
    expect(await store.writeAll([replace], "replace")).toMatchObject({ kind: "written", revision: 3 });
    expect((await store.get("DestinationRule", "a", "default"))?.spec).toEqual({ host: "mine" });
  });

  it("is left alone, where the revision that was read is another", async () => {
    const store = await overtaken((other) => other.update(rule("theirs")));
    const read = await store.get("DestinationRule", "a", "default");
    const config = {
      ...replace.config,
      meta: { ...replace.config.meta, resourceVersion: read?.meta.resourceVersion ?? "" },
    };
    expect(await store.writeAll([{ ...replace, config }], "replace")).toMatchObject({
      result: { kind: "conflict", current: { spec: { host: "theirs" } }, winner: { author: "bert" } },
    });
  });
});
