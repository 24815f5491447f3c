import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { FetchKeys } from "../../../lib/front/auth/remote-keys.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";

const issuer = "https://oidc.example/cluster";
let token: string;
let keys: string;

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: "ES256" }] });
  token = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(issuer)
    .setAudience("istio-ca")
    .setSubject("system:serviceaccount:shop:web")
    .setExpirationTime("1h")
    .sign(privateKey);
});

/** A network of documents by URL. */
function networkOf(documents: Readonly<Record<string, () => string>>, asked: string[] = []): FetchKeys {
  return async (url) => {
    asked.push(url);
    const text = documents[url];
    return text === undefined ? new Response("", { status: 404 }) : new Response(text());
  };
}

async function identify(setting: object, options: Parameters<typeof readAuthentication>[1]) {
  const issuers = [{ issuer, audience: ["portolan", "istio-ca"], ...setting }];
  const authentication = readAuthentication(JSON.stringify({ issuers }), options);
  return authentication.identify({ header: (name) => (name === "authorization" ? `Bearer ${token}` : undefined) });
}

const documentUrl = `${issuer}/.well-known/openid-configuration`;
const documentOf = (changes: object = {}) =>
  JSON.stringify({ issuer, jwks_uri: "https://keys.example/jwks", ...changes });

describe("an issuer with discovery", () => {
  it("has its keys read from where its own document says", async () => {
    const asked: string[] = [];
    const network = networkOf({ [documentUrl]: documentOf, "https://keys.example/jwks": () => keys }, asked);
    expect(await identify({ discovery: "issuer" }, { fetchKeys: network })).toMatchObject({
      kind: "identified",
      caller: { namespace: "shop", serviceAccount: "web" },
    });
    expect(asked).toEqual([documentUrl, "https://keys.example/jwks"]);
  });

  it.each([
    ["no document", undefined],
    ["another issuer's document", () => documentOf({ issuer: "https://evil.example" })],
    ["keys in clear text", () => documentOf({ jwks_uri: "http://keys.example/jwks" })],
    ["no address of keys", () => documentOf({ jwks_uri: 1 })],
    ["a document that is no JSON", () => "<html>"],
    ["a document without end", () => " ".repeat(70_000)],
    ["a document that is a list", () => "[]"],
  ])("lets nobody in for %s", async (_what, document) => {
    const served = document === undefined ? {} : { [documentUrl]: document };
    const both = { "https://keys.example/jwks": () => keys, "http://keys.example/jwks": () => keys };
    const found = await identify({ discovery: "issuer" }, { fetchKeys: networkOf({ ...both, ...served }) });
    expect(found).toMatchObject({ kind: "refused", status: 503 });
  });

  it("has its keys read from the cluster that the server runs in, and from nowhere else", async () => {
    const asked: string[] = [];
    const cluster = networkOf({ "https://kubernetes.default.svc/openid/v1/jwks": () => keys }, asked);
    const options = {
      clusterApi: () => ({ fetchKeys: cluster, post: () => expect.unreachable("no token is reviewed") }),
      fetchKeys: networkOf({}),
    };
    expect(await identify({ discovery: "cluster" }, options)).toMatchObject({ kind: "identified" });
    expect(asked.map((url) => new URL(url).pathname)).toEqual(["/openid/v1/jwks"]);
  });

  it.each([
    [{ discovery: "cluster" }, "a server in a pod or with KUBECONFIG can ask"],
    [{ discovery: "other" }, "is none of issuer, cluster and review"],
    [{ discovery: "issuer", context: "west" }, "is for the discovery cluster or review"],
    [{ discovery: "issuer", jwksUri: "https://a.example" }, "needs one of jwks, jwksUri and discovery"],
    [{}, "needs one of jwks, jwksUri and discovery"],
    [{ discovery: "issuer", issuer: "http://oidc.example" }, "is no https URL"],
    [{ discovery: "issuer", audience: [] }, "issuers[0].audience is empty"],
  ])("is refused as %j", async (setting, reason) => {
    await expect(identify(setting, {})).rejects.toThrow(reason);
  });
});
