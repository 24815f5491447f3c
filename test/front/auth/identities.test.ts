import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Authentication, Credentials } from "../../../lib/front/auth/authentication.ts";
import { spiffeIdOf } from "../../../lib/front/auth/forwarded-certificate.ts";
import { authenticationFor } from "../../../lib/front/auth/open-to.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";
import { clusterToken, nowMs, type TestKey, testKey } from "./keys.ts";

const read = (settings: object, options = {}) =>
  readAuthentication(JSON.stringify(settings), { now: () => nowMs, ...options });
const withHeaders = (headers: Readonly<Record<string, string>>, platform?: unknown): Credentials => ({
  header: (name) => headers[name],
  platform,
});
const bearer = (token: string) => withHeaders({ authorization: `Bearer ${token}` });
const web = { kind: "node", namespace: "default", serviceAccount: "web" };

describe("a Kubernetes service account's token", () => {
  let key: TestKey;
  let other: TestKey;
  let authentication: Authentication;
  beforeAll(async () => {
    [key, other] = await Promise.all([testKey("k1", "RS256"), testKey("k1", "RS256")]);
    const issuer = {
      issuer: "https://cluster.test",
      audience: "portolan",
      clusterId: "east",
      jwks: { keys: [key.publicJwk] },
    };
    const subjects = { "system:serviceaccount:monitoring:prometheus": { scope: "operator" } };
    authentication = read({ issuers: [issuer], subjects });
  });

  it("proves namespace, service account, cluster, and the pod that it is bound to", async () => {
    expect(await authentication.identify(bearer(await clusterToken(key, { pod: "web-0" })))).toEqual({
      kind: "identified",
      caller: { ...web, subject: "system:serviceaccount:default:web", clusterId: "east", pod: "web-0" },
    });
  });

  it("may be granted an operator's scope", async () => {
    const token = await clusterToken(key, { subject: "system:serviceaccount:monitoring:prometheus" });
    expect(await authentication.identify(bearer(token))).toMatchObject({ caller: { kind: "operator" } });
  });

  it.each([
    ["another audience", () => clusterToken(key, { audience: "https://kubernetes.default.svc" })],
    ["another issuer", () => clusterToken(key, { issuer: "https://cluster.test.evil" })],
    ["another key", () => clusterToken(other)],
    ["a time that is over", () => clusterToken(key, { atMs: nowMs - 700_000 })],
    ["a subject that is no service account", () => clusterToken(key, { subject: "jane" })],
  ])("is refused with %s", async (_what, make) => {
    expect(await authentication.identify(bearer(await make()))).toMatchObject({ kind: "refused", status: 401 });
  });

  it("places a pod by the node index, whatever it says of itself", async () => {
    const { request, publish } = testFront({ authentication });
    const world = worldOf({ web: { clusters: { a: "1" } }, admin: { clusters: { b: "2" } } });
    await publish({
      ...world,
      classifier: { ...world.classifier, classes: { '["default","sidecar","admin"]': "admin" } },
      nodes: [{ keys: ["web-0.default"], classId: "web" }],
    });
    const ask = async (pod: string, claimed: string) => {
      const body = pollBody("clusters", nodeOf(claimed, { app: "admin" }));
      const headers = { authorization: `Bearer ${await clusterToken(key, { pod })}` };
      const response = await request("/v3/discovery:clusters", { method: "POST", body, headers });
      return [response.status, /"name":"(\w)"/.exec(await response.text())?.[1]];
    };
    expect(await ask("web-0", "web-0")).toEqual([200, "a"]);
    expect(await ask("web-0", "web-1")).toEqual([403, undefined]);
  });
});

describe("the keys of an issuer", () => {
  it("are read once, and go on being believed while the issuer is out", async () => {
    const key = await testKey("k1", "ES256");
    let reads = 0;
    vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
    const fetchKeys = async () => {
      reads += 1;
      if (reads > 1) throw new Error("connection refused");
      return Response.json({ keys: [key.publicJwk] });
    };
    const issuer = { issuer: "https://cluster.test", audience: "portolan", jwksUri: "https://cluster.test/keys" };
    const onStaleKeys = vi.fn();
    const authentication = read({ issuers: [issuer] }, { fetchKeys, now: Date.now, onStaleKeys });
    for (let i = 0; i < 5; i += 1) {
      expect(await authentication.identify(bearer(await clusterToken(key)))).toMatchObject({ kind: "identified" });
    }
    expect(reads).toBe(1);
    for (const [hours, kind] of [
      [1, "identified"],
      [24, "identified"],
      [25, "refused"],
    ] as const) {
      vi.setSystemTime(nowMs + hours * 3_600_000);
      const token = await clusterToken(key, { atMs: Date.now() });
      expect(await authentication.identify(bearer(token))).toMatchObject({ kind });
    }
    expect(reads).toBeGreaterThan(2);
    // Where nothing of before is believed any more, the answer says why.
    expect(onStaleKeys.mock.calls).toEqual([[new Error("connection refused")], [new Error("connection refused")]]);
    vi.useRealTimers();
  });

  it("make nobody a nobody while they cannot be read", async () => {
    const fetchKeys = async () => new Response("", { status: 500 });
    const issuer = { issuer: "https://cluster.test", audience: "portolan", jwksUri: "https://cluster.test/keys" };
    const token = await clusterToken(await testKey("k1"));
    expect(await read({ issuers: [issuer] }, { fetchKeys }).identify(bearer(token))).toMatchObject({ status: 503 });
  });
});

describe("a certificate that a proxy has checked", () => {
  const secret = "the proxy's own secret";
  const authentication = read({
    proxy: { secrets: [secret, "the secret before it"], trustDomains: ["cluster.local"] },
  });
  const certificate =
    'By=spiffe://cluster.local/ns/p/sa/p;Hash=ab;Subject="CN=a,O=\\"b\\";c";URI=spiffe://cluster.local/ns/default/sa/web';
  const identify = (xfcc: string, proxy?: string) =>
    authentication.identify(
      withHeaders({ "x-forwarded-client-cert": xfcc, ...(proxy === undefined ? {} : { "x-portolan-proxy": proxy }) }),
    );

  it.each([secret, "the secret before it"])("proves namespace and service account", async (known) => {
    expect(await identify(certificate, known)).toMatchObject({ caller: web });
  });

  it.each([
    ["nobody who may say it", certificate, undefined],
    ["somebody with a wrong secret", certificate, "a guess"],
    [
      "a client that sends one of its own before it",
      `${certificate},Hash=cd;URI=spiffe://elsewhere/ns/default/sa/web`,
      secret,
    ],
    [
      "a certificate of another domain",
      certificate.replace("URI=spiffe://cluster.local", "URI=spiffe://elsewhere"),
      secret,
    ],
    ["a certificate with two identities", `${certificate};URI=spiffe://cluster.local/ns/a/sa/a`, secret],
    ["a certificate without one", "Hash=ab", secret],
  ])("is not taken from %s", async (_what, xfcc, proxy) => {
    expect(await identify(xfcc, proxy)).toMatchObject({ kind: "refused", status: 401 });
  });

  it.each([
    ['Subject="URI=spiffe://cluster.local/ns/a/sa/a";URI=spiffe://b', "spiffe://b"],
    ['URI=spiffe://a,Subject="x,URI=spiffe://b"', undefined],
    ['URI="spiffe://a"', "spiffe://a"],
    ["URI=https://a", undefined],
    ["", undefined],
    ['Subject="CN=\\"a, b\\"; c";uri=spiffe://a', "spiffe://a"],
    ["URI=spiffe://a;DNS=b", "spiffe://a"],
    ['Hash=ab;Subject="x,By=y;URI=spiffe://a', undefined],
    ["URI=spiffe://a,", undefined],
  ])("is read within its quotes: %s", (header, id) => {
    expect(spiffeIdOf(header)).toBe(id);
  });

  it.each(['"', '\\"', 'URI="', ",", ";", "a"])(
    "is looked for once in a header of many %s, each character of which is read a few times",
    (piece) => {
      const long = piece.repeat(16_384 / piece.length);
      let reads = 0;
      // The scanner reads a text by these, and by nothing else.
      const header = Object.assign(Object.create(null), {
        length: long.length,
        charAt: (at: number) => {
          reads += 1;
          return long.charAt(at);
        },
        slice: (from: number, to: number) => {
          reads += to - from;
          return long.slice(from, to);
        },
      });
      spiffeIdOf(header);
      expect(reads).toBeLessThanOrEqual(3 * long.length + 3);
    },
  );
});

describe("an identity of the platform", () => {
  const arn = "arn:aws:sts::123456789012:assumed-role/edge/i-0a1b";
  const subjects = {
    "arn:aws:sts::123456789012:assumed-role/edge/*": { namespace: "edge", serviceAccount: "gateway" },
  };
  const event = (userArn: string) => ({ requestContext: { authorizer: { iam: { userArn } } } });

  it("is what AWS says of a signed request, and what that is granted", async () => {
    const authentication = read({ iam: true, subjects });
    expect(await authentication.identify(withHeaders({}, event(arn)))).toMatchObject({
      caller: { kind: "node", namespace: "edge", serviceAccount: "gateway" },
    });
    const role = "arn:aws:sts::123456789012:assumed-role/edgy/i";
    expect(await authentication.identify(withHeaders({}, event(role)))).toMatchObject({ status: 401 });
    expect(await authentication.identify(withHeaders({ requestcontext: JSON.stringify(event(arn)) }))).toMatchObject({
      status: 401,
    });
    expect(
      await read({ tokens: { keys: [(await testKey("a")).publicJwk] }, subjects }).identify(
        withHeaders({}, event(arn)),
      ),
    ).toMatchObject({ status: 401 });
  });

  it("is what Cloudflare Access says in its own header", async () => {
    const key = await testKey("k1", "RS256");
    const issuer = {
      issuer: "https://team.cloudflareaccess.com",
      audience: "tag",
      header: "Cf-Access-Jwt-Assertion",
      subjectClaim: "sub",
      jwks: { keys: [key.publicJwk] },
    };
    const authentication = read({ issuers: [issuer], subjects: { "edge.access": { namespace: "edge" } } });
    const token = await clusterToken(key, { issuer: issuer.issuer, audience: "tag", subject: "edge.access" });
    expect(await authentication.identify(withHeaders({ "cf-access-jwt-assertion": token }))).toMatchObject({
      caller: { kind: "node", namespace: "edge" },
    });
    expect(await authentication.identify(bearer(token))).toMatchObject({ status: 401 });
  });
});

describe("the setting", () => {
  const issuer = { issuer: "a", audience: "b", jwksUri: "https://a" };
  it.each([
    ["no JSON", "yes", "P: it is no JSON object"],
    ["nothing to prove oneself by", "{}", "P: it names no method of authentication"],
    ["an unknown member", '{"token": {}}', "P: it has a member token"],
    [
      "an issuer without an audience",
      JSON.stringify({ issuers: [{ ...issuer, audience: "" }] }),
      "P: issuers[0].audience is no text",
    ],
    [
      "an issuer without keys",
      JSON.stringify({ issuers: [{ issuer: "a", audience: "b" }] }),
      "P: issuers[0] needs one of",
    ],
    ["keys over http", JSON.stringify({ issuers: [{ ...issuer, jwksUri: "http://a" }] }), "is no https URL"],
    ["a short secret", JSON.stringify({ proxy: { secrets: ["short"], trustDomains: ["a"] } }), "below 16 characters"],
    [
      "a private key",
      JSON.stringify({ tokens: { keys: [{ kty: "OKP", d: "sesame" }] } }),
      "holds a key that is not public",
    ],
    [
      "an unknown scope",
      JSON.stringify({ iam: true, subjects: { a: { scope: "root" } } }),
      "P: subjects.a.scope is none of",
    ],
    [
      "a node without a namespace",
      JSON.stringify({ iam: true, subjects: { a: {} } }),
      "P: subjects.a.namespace is no text",
    ],
  ])("is refused with %s", (_what, text, message) => {
    const reading = () => readAuthentication(text, { name: "P" });
    expect(reading).toThrow(message);
    expect(reading).not.toThrow("sesame");
  });

  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("may be absent on %s", (host) => {
    expect(authenticationFor(undefined, host).description).toContain("off");
    expect(authenticationFor("", host).description).toContain("off");
  });

  it.each(["0.0.0.0", "::", "10.0.0.5", "portolan.example", "127.0.0.1.example", ""])(
    "has to be there on %s, if only to say off",
    (host) => {
      expect(() => authenticationFor(undefined, host)).toThrow("is open to other machines");
      expect(authenticationFor("off", host).description).toContain("off");
    },
  );
});
