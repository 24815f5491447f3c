import { exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { readKeySet } from "../../lib/resolve/key-set.ts";

type Key = Readonly<Record<string, unknown>>;
let rsa: Key;
let elliptic: Key;
let edwards: Key;
let privateRsa: Key;

beforeAll(async () => {
  const pair = async (algorithm: string) => generateKeyPair(algorithm, { extractable: true });
  const rsaPair = await pair("RS256");
  rsa = { ...(await exportJWK(rsaPair.publicKey)), kid: "a", use: "sig" };
  privateRsa = { ...(await exportJWK(rsaPair.privateKey)), kid: "p" };
  elliptic = { ...(await exportJWK((await pair("ES256")).publicKey)), kid: "b" };
  edwards = { ...(await exportJWK((await pair("Ed25519")).publicKey)), kid: "c" };
});

const read = (...keys: readonly unknown[]) => readKeySet(JSON.stringify({ keys }));

describe("readKeySet", () => {
  it("gives the same text for the same keys in any order, each once", async () => {
    const one = await read(rsa, elliptic, edwards);
    expect(await read(edwards, rsa, elliptic, rsa)).toEqual(one);
    expect(one).toMatchObject({ kind: "keys", left: [] });
  });

  it("publishes nothing of a private key but its public part", async () => {
    const found = await read(privateRsa);
    const { n, e } = privateRsa;
    expect(found).toMatchObject({ kind: "keys" });
    expect(JSON.parse(found.kind === "keys" ? found.jwks : "")).toEqual({ keys: [{ kty: "RSA", kid: "p", n, e }] });
  });

  it("leaves out what Envoy would refuse a listener for, and says why", async () => {
    const found = await read(
      rsa,
      { kty: "oct", k: "c2VjcmV0" },
      { kty: "EC", crv: "P-256", x: "AA", y: "AA" },
      { kty: "RSA", n: 7, e: "AQAB" },
      { ...elliptic, use: "enc" },
      "key",
    );
    expect(found).toMatchObject({
      kind: "keys",
      left: [
        "key 1 is no public key of type RSA, EC or OKP",
        "key 2 cannot be read",
        "key 3 cannot be read",
        "key 4 is not for signatures",
        "key 5 is no object",
      ],
    });
  });

  it("passes on nothing that Envoy would refuse, nor lets one key cost the others", async () => {
    const { n, e } = rsa;
    const odd = String(n);
    const bad: readonly Key[] = [
      { ...rsa, kid: "\ud800" },
      { ...rsa, kid: "x".repeat(300) },
      { ...rsa, e: "AQ" },
      { ...rsa, e: "" },
      { ...rsa, n: `${odd.slice(0, -1)}A` },
      { ...rsa, n: `${odd.slice(0, -1)}+` },
      { ...rsa, n: "AQAB" },
      { ...rsa, n: odd.repeat(5) },
      { ...rsa, alg: "HS256" },
      { ...elliptic, x: `${String(elliptic.x)}=` },
      { ...elliptic, crv: "constructor" },
      { kty: "constructor", n, e },
      { kty: "__proto__" },
    ];
    const found = await read(...bad, rsa);
    expect(found).toMatchObject({ kind: "keys", left: bad.map((_, at) => expect.stringContaining(`key ${at} `)) });
    expect(found.kind === "keys" && JSON.parse(found.jwks).keys).toHaveLength(1);
  });

  it("drops members that Envoy does not need, and calls EdDSA what Envoy does", async () => {
    const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`);
    const found = await read({ ...edwards, alg: "Ed25519", key_ops: deep, x5c: ["junk"], extra: 1 });
    const { x } = edwards;
    expect(found.kind === "keys" && JSON.parse(found.jwks)).toEqual({
      keys: [{ kty: "OKP", crv: "Ed25519", kid: "c", x, alg: "EdDSA" }],
    });
  });

  it("takes no set without a usable key, with too many, or of another form", async () => {
    expect(await read()).toEqual({ kind: "unusable", reason: "the key set has no key that can be used" });
    expect(await read(...Array.from({ length: 17 }, () => rsa))).toMatchObject({
      reason: "the key set has 17 keys; at most 16 are read",
    });
    for (const text of ["", "<html>", "[]", '{"keys":{}}', '{"error":"none"}'])
      expect(await readKeySet(text)).toMatchObject({ kind: "unusable", reason: expect.stringContaining("no key set") });
  });
});
