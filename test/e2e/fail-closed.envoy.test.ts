import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FailClosedMesh, openFailClosedMesh } from "./fail-closed-mesh.ts";

let mesh: FailClosedMesh;

beforeAll(async () => {
  mesh = await openFailClosedMesh();
}, 60_000);

afterAll(() => mesh?.close());

const object = (kind: string, spec: string) =>
  `apiVersion: security.istio.io/v1\nkind: ${kind}\nmetadata: { name: guard, namespace: bookshop }\nspec: ${spec}\n`;
const selector = "selector: { matchLabels: { istio: ingressgateway } }";
const policy = (action: string, rules: string) =>
  object("AuthorizationPolicy", `{ ${selector}, action: ${action}, rules: [${rules}] }`);
const noPolicy = "# none\n";

const catalog = '{ to: [{ operation: { paths: ["/catalog*"] } }] }';
const other = '{ to: [{ operation: { paths: ["/other"] } }] }';

/** Ways to break a policy that denies /catalog. */
const broken: readonly (readonly [string, string])[] = [
  ["a misspelt field", policy("DENY", '{ to: [{ operation: { path: ["/catalog*"] } }] }')],
  ["a field that was pruned", policy("DENY", "{ to: [{ operation: {} }] }")],
  ["a port that is none", policy("DENY", "{ to: [{ operation: { ports: [http] } }] }")],
  ["a block that is none", policy("DENY", "{ from: [{ source: { ipBlocks: [10] } }] }")],
  ["good rules beside a bad one", policy("DENY", `${catalog}, ${other}, { to: [] }`)],
  ["a template of 500 parts", policy("DENY", `{ to: [{ operation: { paths: ["${"/{*}".repeat(500)}"] } }] }`)],
  ["a field of a newer release", policy("DENY", catalog).replace("action", "presence: REQUIRED, action")],
  ["another version", policy("DENY", catalog).replace("/v1", "/v9")],
];

/** All of them by the shortest way, some by the others. */
const casesOf = (way: string) => (way === "collector" ? broken : broken.filter((_, at) => at % 4 === 0));

const ways = ["push", "webhook", "collector"] as const;

describe.each(ways)("a gateway whose policies come by %s", (way) => {
  const bring = (text: string, isAccepted = true) => mesh.ways[way](text, isAccepted);

  it("goes on denying what a DENY denied, whatever breaks it", async () => {
    await bring(policy("DENY", catalog));
    await mesh.settle("/catalog");
    expect([await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([403, 200]);
    for (const [what, text] of casesOf(way)) {
      await bring(text);
      expect([what, await mesh.settle("/catalog")]).toEqual([what, [403]]);
      expect([what, await mesh.status("/reviews")]).toEqual([what, 200]);
    }
    await bring(noPolicy);
    await mesh.settle("/reviews");
    expect(await mesh.status("/catalog")).toBe(200);
  }, 240_000);

  it("denies everything where the DENY never was valid, and lets it pass when that is deleted", async () => {
    for (const [what, text] of casesOf(way).slice(0, 3)) {
      await bring(text);
      await mesh.settle("/reviews");
      expect([what, await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([what, 403, 403]);
      await bring(noPolicy);
      await mesh.settle("/reviews");
      expect([what, await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([what, 200, 200]);
    }
  }, 240_000);

  it("opens nothing but what the valid rules of an ALLOW open", async () => {
    const bad = '{ to: [{ operation: { pathes: ["/catalog*"] } }] }';
    await bring(policy("ALLOW", `{ to: [{ operation: { paths: ["/reviews*"] } }] }, ${bad}`));
    await mesh.settle("/catalog");
    expect([await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([403, 200]);
    await bring(noPolicy);
    await mesh.settle("/catalog");
  }, 120_000);

  it("goes on refusing bad tokens when the keys break, and refuses all where they never were valid", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" }] });
    const token = (key: Parameters<SignJWT["sign"]>[0]) =>
      new SignJWT({}).setProtectedHeader({ alg: "RS256", kid: "k" }).setIssuer("me").setExpirationTime("1h").sign(key);
    const stranger = await generateKeyPair("RS256", { extractable: true });
    const good = { authorization: `Bearer ${await token(privateKey)}` };
    const bad = { authorization: `Bearer ${await token(stranger.privateKey)}` };
    const tokens = (text: string, more = "") =>
      object("RequestAuthentication", `{ ${selector}, jwtRules: [{ issuer: me, jwks: '${text}'${more} }] }`);
    const statuses = async () => [
      await mesh.status("/reviews"),
      await mesh.status("/reviews", good),
      await mesh.status("/reviews", bad),
    ];
    await bring(tokens(jwks));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([200, 200, 401]);
    for (const text of [tokens("broken"), tokens("{}"), tokens(jwks, ", presence: REQUIRED")]) {
      await bring(text);
      expect(await mesh.settle("/reviews", bad)).toEqual([401]);
      expect(await statuses()).toEqual([200, 200, 401]);
    }
    await bring(noPolicy);
    await bring(tokens("broken"));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([200, 401, 401]);
    await bring(noPolicy);
    await bring(tokens(jwks, ", presence: REQUIRED"));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([403, 401, 401]);
    await bring(noPolicy);
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([200, 200, 200]);
  }, 240_000);
});

describe.each(["push", "webhook"] as const)("a %s that would close something", (way) => {
  it("is refused, moves nothing, and names the object, what would be closed and the flag", async () => {
    const [[, text] = ["", ""]] = broken;
    await expect(mesh.ways[way](text)).rejects.toThrow(/unknown field[\s\S]*are denied[\s\S]*--accept-closed/);
    await mesh.ways[way](noPolicy);
    await mesh.settle("/catalog");
    expect(await mesh.status("/catalog")).toBe(200);
  }, 60_000);
});
