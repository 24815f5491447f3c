import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { awsKms } from "../../lib/secrets/aws-kms.ts";
import { freshMs, graceMs, retryMs } from "../../lib/secrets/data-key-cache.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import type { KeyWrapper } from "../../lib/secrets/key-wrapper.ts";
import { rewrap } from "../../lib/secrets/rewrap.ts";
import { type SecretStore, secretStore } from "../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { type KmsServer, startKms } from "./kms-server.ts";

const shop = { namespace: "bookshop", name: "shop-cert" };
const secret = { values: { "tls.crt": btoa("a certificate"), "tls.key": btoa("s3cret") } };
const alias = "alias/portolan";

let kms: KmsServer;
let arn: string;
let store: ObjectStore;
let nowMs: number;
let warnings: string[];

beforeAll(async () => {
  kms = await startKms();
}, 90_000);
afterAll(() => kms.close());
beforeEach(async () => {
  arn = await kms.createKey();
  await kms.call("CreateAlias", { AliasName: alias, TargetKeyId: arn });
  kms.calls.length = 0;
  kms.allowed.clear();
  kms.mood = "well";
  store = memoryStore();
  nowMs = Date.now();
  warnings = [];
});
afterEach(async () => {
  await kms.call("DeleteAlias", { AliasName: alias });
  vi.unstubAllEnvs();
});

/** Keys as a process has them that runs as somebody and remembers nothing. */
function keysOf(setting: string, identity = "ANYBODY"): KeyWrapper {
  for (const [name, value] of Object.entries(kms.environment(identity))) vi.stubEnv(name, value);
  const services = awsKms({ onWarning: (text) => warnings.push(text), now: () => nowMs });
  return wrappingKeys(setting, "KEY", services);
}

const secretsOf = (...keys: Parameters<typeof keysOf>): SecretStore => secretStore(store, keysOf(...keys));

const idOf = (keyArn: string) => keyArn.replace(/.*\//, "");

const kept = async (secrets: SecretStore) => {
  const found = await secrets.get(shop);
  if (found === undefined) throw new Error("not found");
  return found;
};

describe("a secret that AWS KMS wraps", () => {
  it.each([
    ["by a key's ARN", () => arn, () => arn],
    ["by an alias", () => alias, () => alias],
    ["by an alias, and read by the ARN", () => alias, () => arn],
    ["by an ARN, and read by the alias's", () => arn, () => arn.replace(/key\/.*/, alias)],
  ])("is opened by whoever names its key, %s", async (_what, writes, reads) => {
    await secretsOf(`aws-kms:${writes()}`).put(shop, secret);
    expect(await secretsOf(`aws-kms:${reads()}`).get(shop)).toMatchObject({ secret });
    const stored = await store.get("secrets/bookshop/shop-cert");
    const text = stored.kind === "found" ? new TextDecoder().decode(stored.bytes) : "";
    expect(JSON.parse(text).key.id).toBe(`aws-kms:${arn}`);
    expect(text).not.toContain(btoa("s3cret"));
  });

  it("is opened once for many polls, and again when some minutes have passed or it was changed", async () => {
    const secrets = secretsOf(`aws-kms:${arn}`);
    await secrets.put(shop, secret);
    kms.calls.length = 0;
    const [found] = await Promise.all(Array.from({ length: 20 }, () => kept(secrets)));
    for (let poll = 0; poll < 20; poll += 1) await secrets.get(shop, found);
    expect(kms.calls).toEqual(["ANYBODY Decrypt"]);
    nowMs += freshMs;
    await secrets.get(shop, found);
    await secrets.put(shop, secret);
    await secrets.get(shop, found);
    expect(kms.calls).toEqual(["Decrypt", "Decrypt", "Encrypt", "Decrypt"].map((call) => `ANYBODY ${call}`));
  });

  it("is not opened by KMS under another name", async () => {
    const secrets = secretsOf(`aws-kms:${arn}`);
    await secrets.put(shop, secret);
    await secrets.get(shop);
    const stored = await store.get("secrets/bookshop/shop-cert");
    if (stored.kind !== "found") throw new Error("not stored");
    await store.put("secrets/evil/shop-cert", stored.bytes);
    await expect(secrets.get({ ...shop, namespace: "evil" })).rejects.toThrow(
      `the secret evil/shop-cert: AWS KMS does not open with ${arn} what was wrapped for another secret, or was changed`,
    );
  });

  it("asks KMS for nothing that says it is of another key", async () => {
    await secretsOf(`aws-kms:${await kms.createKey()}`).put(shop, secret);
    kms.calls.length = 0;
    await expect(secretsOf(`aws-kms:${arn}`).get(shop)).rejects.toThrow("KEY does not hold the key aws-kms:arn:");
    expect(kms.calls).toEqual([]);
  });

  it("comes from the environment's key by whoever may encrypt, for fronts that may decrypt", async () => {
    const old = makeWrappingKey();
    await secretsOf(old).put(shop, secret);
    await secretsOf(old).put({ ...shop, name: "other" }, secret);
    kms.allowed.set("WRITER", ["Encrypt"]).set("FRONT", ["Decrypt"]);
    const writer = keysOf(`aws-kms:${alias} ${old}`, "WRITER");
    expect(await rewrap(store, writer)).toEqual({ sealedAnew: 2, leftAlone: 0 });
    expect(await rewrap(store, writer)).toEqual({ sealedAnew: 0, leftAlone: 2 });
    const front = secretsOf(`aws-kms:${arn}`, "FRONT");
    expect(await front.get(shop)).toMatchObject({ secret });
    await expect(front.put(shop, secret)).rejects.toThrow(
      `the secret bookshop/shop-cert: AWS KMS denies kms:Encrypt with ${arn}: allow it to the caller: User: FRONT is not`,
    );
  });

  it("is wrapped with the key that an alias stands for now, while the one before opens what it has wrapped", async () => {
    await secretsOf(`aws-kms:${alias}`).put(shop, secret);
    const next = await kms.createKey();
    await kms.call("UpdateAlias", { AliasName: alias, TargetKeyId: next });
    await expect(secretsOf(`aws-kms:${alias}`).get(shop)).rejects.toThrow(`KEY does not hold the key aws-kms:${arn}`);
    const both = keysOf(`aws-kms:${alias} aws-kms:${arn}`);
    expect(await secretStore(store, both).get(shop)).toMatchObject({ secret });
    expect(await rewrap(store, both)).toEqual({ sealedAnew: 1, leftAlone: 0 });
    expect(await secretsOf(`aws-kms:${next}`).get(shop)).toMatchObject({ secret });
  });
});

describe("what KMS decides", () => {
  it.each<[string, () => Promise<unknown> | unknown, string]>([
    ["a permission is taken away", () => kms.allowed.set("ANYBODY", []), "AWS KMS denies kms:Decrypt with arn:"],
    ["the key is disabled", () => kms.call("DisableKey", { KeyId: idOf(arn) }), "disabled: enable it, or take another"],
    [
      "the key is about to be deleted",
      () => kms.call("ScheduleKeyDeletion", { KeyId: idOf(arn), PendingWindowInDays: 7 }),
      "which may be about to be deleted",
    ],
  ])("ends what was opened before, within minutes: %s", async (_what, happens, message) => {
    const secrets = secretsOf(`aws-kms:${arn}`);
    await secrets.put(shop, secret);
    const found = await kept(secrets);
    await happens();
    expect(await secrets.get(shop, found)).toMatchObject({ secret });
    nowMs += freshMs;
    await expect(secrets.get(shop, found)).rejects.toThrow(message);
    kms.allowed.clear();
    kms.calls.length = 0;
    await expect(secrets.get(shop, found)).rejects.toThrow(message);
    expect(kms.calls).toEqual([]);
  });

  it("counts again as soon as a key is enabled", async () => {
    const secrets = secretsOf(`aws-kms:${arn}`);
    await secrets.put(shop, secret);
    await kms.call("DisableKey", { KeyId: idOf(arn) });
    await expect(secrets.get(shop)).rejects.toThrow("disabled");
    await kms.call("EnableKey", { KeyId: idOf(arn) });
    nowMs += retryMs;
    expect(await secrets.get(shop)).toMatchObject({ secret });
  });

  it("is told of a key that is not there", async () => {
    const gone = "aws-kms:alias/gone";
    await expect(secretsOf(gone).put(shop, secret)).rejects.toThrow("AWS KMS has no key alias/gone in this account");
  });
});

describe("while KMS decides nothing", () => {
  it.each<[KmsServer["mood"], string]>([
    ["throttling", "throttles kms:Decrypt"],
    ["hanging up", "is not reached for kms:Decrypt"],
    ["silent", "is not reached for kms:Decrypt"],
  ])(
    "what was opened before is used for hours, and nothing else: %s",
    async (mood, message) => {
      const secrets = secretsOf(`aws-kms:${arn}`);
      await secrets.put(shop, secret);
      const found = await kept(secrets);
      kms.mood = mood;
      nowMs += freshMs;
      expect(await secrets.get(shop, found)).toMatchObject({ secret });
      expect(await secrets.get(shop, found)).toMatchObject({ secret });
      expect(warnings).toEqual([expect.stringContaining(message)]);
      expect(warnings[0]).toContain("secrets that were opened before are used until 2");
      await expect(secretsOf(`aws-kms:${arn}`).get(shop)).rejects.toThrow(message);
      nowMs += graceMs;
      await expect(secrets.get(shop, found)).rejects.toThrow(message);
      kms.mood = "well";
      nowMs += retryMs;
      expect(await secrets.get(shop, found)).toMatchObject({ secret });
    },
    60_000,
  );

  it("says which setting is missing", async () => {
    const secrets = secretsOf("aws-kms:alias/portolan");
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION"]) vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_CONFIG_FILE", "/dev/null");
    await expect(secrets.put(shop, secret)).rejects.toThrow("set AWS_REGION, or name alias/portolan by its ARN");
  });
});
