import { type JWK, type JWTPayload, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import type { TokenGrant } from "../../../lib/front/auth/token.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../../lib/snapshot/head/signing-keys.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";
import { nowMs, tokenOf } from "./keys.ts";

let key: SigningJwk;
let older: SigningJwk;
let stranger: SigningJwk;
let call: (path: string, token?: string, init?: RequestInit) => Promise<Response>;

beforeAll(async () => {
  [key, older, stranger] = await Promise.all([
    makeSigningKey("tokens"),
    makeSigningKey("tokens"),
    makeSigningKey("tokens"),
  ]);
  stranger = { ...stranger, kid: key.kid };
  const authentication = readAuthentication(JSON.stringify({ tokens: { keys: [key, older].map(publicPart) } }), {
    now: () => nowMs,
  });
  const { front, publish } = testFront({ authentication });
  const world = worldOf({ web: { clusters: { a: "1" } }, other: { clusters: { b: "2" } } });
  await publish({
    ...world,
    nodes: [
      { keys: ["web.default", "10.0.0.5"], classId: "web" },
      { keys: ["pay.shop", "10.0.0.9"], classId: "other" },
    ],
  });
  const app = frontApp(front);
  mountConnect(app, front);
  call = async (path, token, init = {}) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return app.request(path, { ...init, headers });
  };
});

const node = (more: Partial<TokenGrant> = {}): TokenGrant => ({ scope: "node", namespace: "default", ...more });

/** A token of the front's own, but for what is said. */
function signedOtherwise({
  claims = { portolan: node() },
  alg = "EdDSA",
  issuer = "portolan",
  audience = "portolan",
  ends = true,
  with: signer = { ...key },
}: {
  readonly claims?: JWTPayload;
  readonly alg?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly ends?: boolean;
  readonly with?: Uint8Array<ArrayBuffer> | JWK;
}): Promise<string> {
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg, kid: key.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject("system:serviceaccount:default:web");
  return (ends ? token.setExpirationTime(nowMs / 1000 + 9) : token).sign(signer);
}

const poll = (token: string | undefined, claims: object = nodeOf("web")) =>
  call("/v3/discovery:clusters", token, { method: "POST", body: pollBody("clusters", claims) });
const post = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };

describe("a request without a token", () => {
  it.each([
    ["/v3/discovery:clusters", post],
    ["/v3/delta:clusters", post],
    ["/v3/discovery%3Alisteners", post],
    ["/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters", post],
    [
      "/envoy.service.route.v3.RouteDiscoveryService/FetchRoutes",
      { ...post, headers: { "content-type": "application/proto" } },
    ],
    ["/portolan.v1.SnapshotService/DeltaFetch", post],
    ["/v1/clusters/istio-proxy/sidecar~10.0.0.5~web.default~default.svc.cluster.local", {}],
    ["/v1/registration", {}],
    ["/v1/registration/a.default.svc.cluster.local%7Chttp", {}],
    ["/cache_stats", {}],
    ["/cache_stats_delete", { method: "POST" }],
    ["/metrics", {}],
    ["/refusals", {}],
    ["/status", {}],
    ["/anything", {}],
  ])("to %s is told to bring one, and nothing else", async (path, init) => {
    const response = await call(path, undefined, init);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await response.text()).not.toContain("default");
  });

  it("is told whether the front is well", async () => {
    expect((await call("/healthz")).status).toBe(200);
  });

  it("has nothing of its body read", async () => {
    let read = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          read += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", body, duplex: "half" as const };
    expect((await call("/v3/discovery:clusters", undefined, init)).status).toBe(401);
    expect(read).toBe(0);
  });
});

describe("a node's token", () => {
  it("lets it read what is its own, whichever of two keys has signed it", async () => {
    for (const signer of [key, older]) {
      const response = await poll(await tokenOf(signer, node()));
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('"a"');
    }
  });

  it.each([
    ["the metadata", { ...nodeOf("web"), metadata: { NAMESPACE: "shop", LABELS: {} } }],
    ["the name", { ...nodeOf("web"), id: "sidecar~10.0.0.9~pay.shop~default.svc.cluster.local" }],
    ["the DNS domain", { ...nodeOf("web"), id: "sidecar~10.0.0.9~web.default~shop.svc.cluster.local" }],
    ["the DNS domain alone", { id: "sidecar~10.0.0.9~web.default~shop.svc.cluster.local", cluster: "web.default" }],
    ["a bare name", { id: "pay.shop", cluster: "web.default" }],
    ["another service account", { ...nodeOf("web"), metadata: { NAMESPACE: "default", SERVICE_ACCOUNT: "pay" } }],
  ])("does not let it claim another namespace by %s", async (_what, claims) => {
    const token = await tokenOf(key, node({ serviceAccount: "web" }));
    const response = await poll(token, claims);
    expect([response.status, await response.text()]).toEqual([403, expect.not.stringContaining('"b"')]);
    for (const path of ["/v3/delta:clusters", "/portolan.v1.SnapshotService/DeltaFetch"]) {
      const body = JSON.stringify({ node: claims, type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" });
      expect((await call(path, token, { ...post, body })).status).toBe(403);
    }
  });

  it.each([
    ["address", { id: "sidecar~10.0.0.9~new.default~default.svc.cluster.local", cluster: "new.default" }],
    ["cluster", { id: "new.default", cluster: "pay.shop" }],
  ])("does not let it be taken for another by its %s", async (_what, claims) => {
    expect((await poll(await tokenOf(key, node()), claims)).status).toBe(404);
  });

  it("is good for its classes only, where it names some", async () => {
    expect((await poll(await tokenOf(key, node({ classes: ["web"] })))).status).toBe(200);
    const response = await poll(await tokenOf(key, node({ classes: ["other"] })));
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining("may not be of class")]);
  });

  it.each([
    "/metrics",
    "/refusals",
    "/status",
    "/v1/registration",
    "/v1/registration/a%7Chttp",
    "/cache_stats",
    "/v1/%72egistration",
  ])("is not good for %s", async (path) => {
    expect((await call(path, await tokenOf(key, node()))).status).toBe(403);
  });

  it("is not good for the v1 API, whose requests prove nothing of a workload", async () => {
    const path = "/v1/clusters/istio-proxy/sidecar~10.0.0.9~web.default~default.svc.cluster.local";
    expect((await call(path, await tokenOf(key, node()))).status).toBe(403);
    expect((await call(path, await tokenOf(key, { scope: "v1" }))).status).toBe(404);
    for (const list of ["/v1/registration", "/v1/registration/", "/v1/registration?a", "/v1/registration//a"])
      expect((await call(list, await tokenOf(key, { scope: "v1" }))).status).toBe(403);
    // Endpoints of one service, which a v1 Envoy asks for by its key: nothing of this API is published here.
    expect((await call("/v1/registration/a%7Chttp", await tokenOf(key, { scope: "v1" }))).status).toBe(404);
    expect((await poll(await tokenOf(key, { scope: "v1" }))).status).toBe(403);
  });
});

describe("an operator's token", () => {
  it("lets read everything, as any node", async () => {
    const token = await tokenOf(key, { scope: "operator" });
    expect((await call("/refusals", token)).status).toBe(200);
    expect((await poll(token, { id: "pay.shop", cluster: "" })).status).toBe(200);
  });
});

describe("a token that does not hold", () => {
  it.each<[string, () => Promise<string>]>([
    ["expired", () => tokenOf(key, node(), 3600, nowMs - 3_700_000)],
    ["signed with a stranger's key of the same id", () => tokenOf(stranger, node())],
    ["signed with a key that is not known", async () => tokenOf({ ...stranger, kid: "other" }, node())],
    [
      "changed",
      async () => {
        const [head = "", , signature = ""] = (await tokenOf(key, node())).split(".");
        const payload = {
          iss: "portolan",
          aud: "portolan",
          sub: "a",
          exp: nowMs / 1000 + 9,
          portolan: { scope: "operator" },
        };
        return [head, Buffer.from(JSON.stringify(payload)).toString("base64url"), signature].join(".");
      },
    ],
    [
      "without a signature",
      async () => {
        const payload = {
          iss: "portolan",
          aud: "portolan",
          sub: "a",
          exp: nowMs / 1000 + 9,
          portolan: { scope: "operator" },
        };
        return `${[{ alg: "none" }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
      },
    ],
    [
      "signed with the public key as a shared secret",
      () => signedOtherwise({ alg: "HS256", with: new TextEncoder().encode(JSON.stringify(publicPart(key))) }),
    ],
    ["for another audience", () => signedOtherwise({ audience: "other" })],
    ["without an end", () => signedOtherwise({ ends: false })],
    ["that grants what nobody knows", () => signedOtherwise({ claims: { portolan: { scope: "root" } } })],
    ["of another issuer", () => signedOtherwise({ claims: {}, issuer: "https://elsewhere" })],
    ["that is none", async () => "x.y.z"],
    ["that is very long", async () => "x".repeat(10_000)],
  ])("is refused: %s", async (_what, make) => {
    const response = await poll(await make());
    expect(response.status).toBe(401);
  });
});
