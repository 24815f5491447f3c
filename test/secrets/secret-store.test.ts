import { describe, expect, it } from "vitest";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { rewrap } from "../../lib/secrets/rewrap.ts";
import { readSecretName } from "../../lib/secrets/secret-name.ts";
import { secretStore } from "../../lib/secrets/secret-store.ts";
import { sdsResource } from "../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

const wrapping = makeWrappingKey();
const wrapper = wrappingKeys(wrapping, "KEY");
const shop = { namespace: "bookshop", name: "shop-cert" };
const secret = { values: { "tls.crt": btoa("a certificate"), "tls.key": btoa("s3cret") } };

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function textOf(store: ObjectStore): Promise<string> {
  let all = "";
  for await (const { key } of store.list("")) {
    const found = await store.get(key);
    all += `${key}\n${found.kind === "found" ? new TextDecoder().decode(found.bytes) : ""}\n`;
  }
  return all;
}

describe("a secret store", () => {
  it("gives back what it was given, and holds nothing that could be read", async () => {
    const store = memoryStore();
    const secrets = secretStore(store, wrapper);
    await secrets.put(shop, secret);
    const found = await secrets.get(shop);
    expect(found).toMatchObject({ secret });
    expect(await secrets.get(shop, found)).toEqual(found);
    expect(await secrets.get({ ...shop, name: "other" })).toBeUndefined();
    const text = await textOf(store);
    for (const part of ["s3cret", btoa("s3cret"), btoa("a certificate"), wrapping]) expect(text).not.toContain(part);
  });

  it("seals the same secret otherwise each time", async () => {
    const store = memoryStore();
    const secrets = secretStore(store, wrapper);
    await secrets.put(shop, secret);
    const first = await textOf(store);
    await secrets.put(shop, secret);
    expect(await textOf(store)).not.toBe(first);
  });

  it("opens nothing that was changed, or put in another's place", async () => {
    const store = memoryStore();
    const secrets = secretStore(store, wrapper);
    await secrets.put(shop, secret);
    const found = await store.get("secrets/bookshop/shop-cert");
    if (found.kind !== "found") throw new Error("not stored");
    await store.put("secrets/evil/shop-cert", found.bytes);
    await expect(secrets.get({ ...shop, namespace: "evil" })).rejects.toThrow("stored under the name of another");
    const envelope: Readonly<Record<string, unknown>> = JSON.parse(new TextDecoder().decode(found.bytes));
    const flipped = (text: unknown) => {
      const bytes = Buffer.from(String(text), "base64");
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
      return bytes.toString("base64");
    };
    for (const part of ["sealed", "iv"]) {
      const changed = { ...envelope, [part]: flipped(envelope[part]) };
      await store.put("secrets/bookshop/shop-cert", new TextEncoder().encode(JSON.stringify(changed)));
      await expect(secrets.get(shop)).rejects.toThrow("was changed");
    }
    await store.put("secrets/bookshop/shop-cert", new TextEncoder().encode("{}"));
    await expect(secrets.get(shop)).rejects.toThrow("cannot be read");
  });

  it("changes its key: both open, the new one seals, and when all is sealed anew the old one can go", async () => {
    const store = memoryStore();
    await secretStore(store, wrapper).put(shop, secret);
    const next = makeWrappingKey();
    await expect(secretStore(store, wrappingKeys(next, "KEY")).get(shop)).rejects.toThrow(
      "KEY does not hold the key env-",
    );
    const both = wrappingKeys(`${next} ${wrapping}`, "KEY");
    expect(await secretStore(store, both).get(shop)).toMatchObject({ secret });
    expect(await rewrap(store, both)).toEqual({ sealedAnew: 1, leftAlone: 0 });
    expect(await rewrap(store, both)).toEqual({ sealedAnew: 0, leftAlone: 1 });
    expect(await secretStore(store, wrappingKeys(next, "KEY")).get(shop)).toMatchObject({ secret });
  });

  it("seals anew what another process writes meanwhile, and never the form before it", async () => {
    const store = memoryStore();
    const old = secretStore(store, wrapper);
    await old.put(shop, secret);
    const newer = { values: { "ca.crt": btoa("newer") } };
    let writes = 0;
    const busy: ObjectStore = {
      ...store,
      async put(key, bytes, condition) {
        writes += 1;
        if (writes === 1) await old.put(shop, newer);
        return store.put(key, bytes, condition);
      },
    };
    const next = makeWrappingKey();
    expect(await rewrap(busy, wrappingKeys(`${next} ${wrapping}`, "KEY"))).toMatchObject({ sealedAnew: 1 });
    expect(await secretStore(store, wrappingKeys(next, "KEY")).get(shop)).toMatchObject({ secret: newer });
  });

  it("lists names, and forgets", async () => {
    const secrets = secretStore(memoryStore(), wrapper);
    await secrets.put(shop, secret);
    await secrets.put({ namespace: "a", name: "b.c" }, secret);
    expect(await all(secrets.list())).toEqual([{ namespace: "a", name: "b.c" }, shop]);
    await secrets.delete(shop);
    expect(await secrets.get(shop)).toBeUndefined();
  });
});

describe("readSecretName", () => {
  it.each([
    ["kubernetes://shop", { namespace: undefined, name: "shop", ca: false, isOfGateway: false }],
    ["kubernetes://shop-cacert", { namespace: undefined, name: "shop", ca: true, isOfGateway: false }],
    ["kubernetes://ns/shop", { namespace: "ns", name: "shop", ca: false, isOfGateway: false }],
    ["kubernetes-gateway://ns/shop-cacert", { namespace: "ns", name: "shop", ca: true, isOfGateway: true }],
    ["kubernetes-gateway://shop", undefined],
    ["kubernetes://../shop", undefined],
    ["kubernetes://a/b/c", undefined],
    ["kubernetes://", undefined],
    ["default", undefined],
    ["file-cert:/etc/passwd~/etc/shadow", undefined],
  ])("reads %s", (name, want) => {
    expect(readSecretName(name)).toEqual(want);
  });
});

describe("sdsResource", () => {
  it("gives the pair or the CA, each from the names that Istio reads first", () => {
    const both = { values: { cert: "Yw==", "tls.crt": "dA==", key: "aw==", "ca.crt": "YQ==", "ca.crl": "cg==" } };
    expect(sdsResource("n", both, "pair")).toMatchObject({
      name: "n",
      tls_certificate: { certificate_chain: { inline_bytes: "Yw==" }, private_key: { inline_bytes: "aw==" } },
    });
    expect(sdsResource("n", both, "ca")).toMatchObject({
      validation_context: { trusted_ca: { inline_bytes: "YQ==" }, crl: { inline_bytes: "cg==" } },
    });
    expect(sdsResource("n", secret, "ca")).toBeUndefined();
    expect(sdsResource("n", { values: { "tls.crt": "Yw==" } }, "pair")).toBeUndefined();
  });
});
