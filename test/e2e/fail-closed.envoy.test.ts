import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./envoy.ts";
import { type FailClosedMesh, openFailClosedMesh, startFolder } from "./fail-closed-mesh.ts";

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

  it("goes on denying what an EnvoyFilter's own filter denied, and denies everything where that never was valid", async () => {
    const filter = (rules: string) => `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: guard, namespace: bookshop }
spec:
  workloadSelector: { labels: { istio: ingressgateway } }
  configPatches:
    - applyTo: HTTP_FILTER
      match: { context: GATEWAY, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch:
        operation: INSERT_FIRST
        value:
          name: guard
          typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC, rules: ${rules} }
`;
    const rules = (permissions: string, action = "DENY") =>
      `{ action: ${action}, policies: { a: { permissions: [${permissions}], principals: [{ any: true }] } } }`;
    const catalogPath = "{ url_path: { path: { prefix: /catalog } } }";
    await bring(filter(rules(catalogPath)));
    await mesh.settle("/catalog");
    expect([await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([403, 200]);
    const bad = [filter(rules("")), filter(rules(catalogPath, "DENNY"))];
    for (const text of bad) {
      await bring(text);
      expect(await mesh.settle("/catalog")).toEqual([403]);
      expect(await mesh.status("/reviews")).toBe(200);
    }
    await bring(noPolicy);
    await mesh.settle("/catalog");
    for (const text of bad) {
      await bring(text);
      await mesh.settle("/reviews");
      expect([await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([403, 403]);
    }
    await bring(noPolicy);
    await mesh.settle("/reviews");
    expect([await mesh.status("/catalog"), await mesh.status("/reviews")]).toEqual([200, 200]);
  }, 240_000);

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
    for (const text of [tokens("broken"), tokens("{}"), tokens(jwks, ", presence: UNLESS_CACHED")]) {
      await bring(text);
      expect(await mesh.settle("/reviews", bad)).toEqual([401]);
      expect(await statuses()).toEqual([200, 200, 401]);
    }
    await bring(noPolicy);
    await bring(tokens("broken"));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([200, 401, 401]);
    await bring(noPolicy);
    // A value that no release has may demand a token.
    await bring(tokens(jwks, ", presence: UNLESS_CACHED"));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([403, 401, 401]);
    await bring(noPolicy);
    await bring(tokens(jwks, ", presence: REQUIRED"));
    await mesh.settle("/reviews");
    expect(await statuses()).toEqual([401, 200, 401]);
    await bring(tokens("broken", ", presence: REQUIRED"));
    expect(await mesh.settle("/reviews", bad)).toEqual([401]);
    expect(await statuses()).toEqual([401, 200, 401]);
    await bring(noPolicy);
    await bring(tokens("broken", ", presence: REQUIRED"));
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

describe("a gateway of a folder that `portolan dev` follows", () => {
  it("denies through every way of breaking the policy, and through a process that was killed", async () => {
    const folder = await startFolder();
    try {
      const [[, bad = ""] = []] = broken;
      await folder.save(bad);
      await folder.settle("/reviews");
      expect([await folder.status("/catalog"), await folder.status("/reviews")]).toEqual([403, 403]);
      await folder.save(policy("DENY", catalog));
      await folder.settle("/catalog");
      expect([await folder.status("/catalog"), await folder.status("/reviews")]).toEqual([403, 200]);
      await folder.save(bad);
      expect(await folder.settle("/catalog")).toEqual([403]);
      await folder.restart();
      expect(await folder.settle("/catalog")).toEqual([403]);
      await folder.save(policy("DENY", catalog).slice(0, -12));
      expect(await folder.settle("/catalog")).toEqual([403]);
      expect(await folder.status("/reviews")).toBe(200);
    } finally {
      await folder.close();
    }
  }, 180_000);
});

describe("a gateway whose routes come by a collector", () => {
  it("goes on serving a VirtualService and a Gateway that become invalid", async () => {
    const networking = (kind: string, spec: string) =>
      `apiVersion: networking.istio.io/v1\nkind: ${kind}\nmetadata: { name: extra, namespace: bookshop }\nspec: ${spec}\n---\n`;
    const gateway = (port: string) =>
      networking(
        "Gateway",
        `{ selector: { istio: ingressgateway }, servers: [{ port: ${port}, hosts: [extra.example.com] }] }`,
      );
    const service = (spec: string) =>
      networking("VirtualService", `{ hosts: [extra.example.com], gateways: [extra], ${spec} }`);
    const goodGateway = gateway("{ number: 80, name: http, protocol: HTTP }");
    const goodService = service("http: [{ directResponse: { status: 204 } }]");
    const host = { host: "extra.example.com" };
    const bring = mesh.ways.collector;
    await bring(goodGateway + goodService);
    const statusNow = () => mesh.status("/", host);
    await eventually(statusNow, (status) => status === 204);
    const worse = [
      goodGateway + service("http: [{ directResponse: { status: 99 } }]"),
      gateway("{ number: 80, protocol: HTP }") + goodService,
    ];
    for (const text of worse) {
      await bring(text);
      // Routes and listeners are polled apart: the second marker comes after the routes of the first.
      expect([await mesh.settle("/", host), await mesh.settle("/", host)]).toEqual([[204], [204]]);
    }
    await bring(noPolicy);
    await eventually(statusNow, (status) => status === 404);
  }, 180_000);
});
