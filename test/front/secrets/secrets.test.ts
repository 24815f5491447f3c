import { describe, expect, it } from "vitest";
import type { Authentication } from "../../../lib/front/auth/authentication.ts";
import { authenticateBy, identified, noAuthentication } from "../../../lib/front/auth/authentication.ts";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { secretTypeUrl } from "../../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { diffWorlds } from "../../../lib/snapshot/worlds/diff-worlds.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { nodeOf, testFront } from "../fixtures.ts";
import { worldNaming } from "../naming-world.ts";

const web: Caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" };
const by = (caller: Caller): Authentication => authenticateBy("test", [async () => identified(caller)]);
const pair = (key: string) => ({
  values: { "tls.crt": btoa("certificate"), "tls.key": btoa(key), "ca.crt": btoa("ca") },
});

async function secretFront(authentication: Authentication = by(web), options = {}) {
  const store = memoryStore();
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  const test = testFront({ store, authentication, secrets, ...options });
  await test.publish(
    worldNaming("kubernetes://shop", "kubernetes://shop-cacert", "kubernetes://other/shop", "kubernetes://gone"),
  );
  await secrets.put({ namespace: "default", name: "shop" }, pair("s3cret"));
  await secrets.put({ namespace: "other", name: "shop" }, pair("another's"));
  await secrets.put({ namespace: "default", name: "unnamed" }, pair("unnamed"));
  const ask = async (
    name: string,
    more: { version?: string; node?: object; headers?: Record<string, string> } = {},
  ) => {
    const { version, node = nodeOf("web"), headers = {} } = more;
    const body = JSON.stringify({ version_info: version, node, resource_names: [name], type_url: secretTypeUrl });
    const response = await test.request("/v3/discovery:secrets", { method: "POST", body, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { ...test, secrets, ask };
}

const versionIn = (text: string) => /"version_info":"(\w+)"/.exec(text)?.[1] ?? "";

describe("POST /v3/discovery:secrets", () => {
  it("gives a new pair within seconds, although the clock was set back by a day", async () => {
    let nowMs = Date.UTC(2026, 10, 1);
    const { ask, secrets } = await secretFront(by(web), { now: () => nowMs });
    expect((await ask("kubernetes://shop")).text).toContain(btoa("s3cret"));
    nowMs -= 86_400_000;
    await secrets.put({ namespace: "default", name: "shop" }, pair("rotated"));
    expect((await ask("kubernetes://shop")).text).toContain(btoa("s3cret"));
    nowMs += 3_000;
    expect((await ask("kubernetes://shop")).text).toContain(btoa("rotated"));
  });

  it("gives a node the pair and the CA that its listeners name, for nobody on the way to keep", async () => {
    const { ask } = await secretFront();
    const { status, headers, text } = await ask("kubernetes://shop");
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(JSON.parse(text)).toEqual({
      version_info: expect.stringMatching(/^\w{32}$/),
      type_url: secretTypeUrl,
      resources: [
        {
          "@type": secretTypeUrl,
          name: "kubernetes://shop",
          tls_certificate: {
            certificate_chain: { inline_bytes: btoa("certificate") },
            private_key: { inline_bytes: btoa("s3cret") },
          },
        },
      ],
    });
    expect((await ask("kubernetes://shop-cacert")).text).toContain(btoa("ca"));
    expect((await ask("kubernetes://shop-cacert")).text).not.toContain(btoa("s3cret"));
    expect((await ask("kubernetes://shop", { version: versionIn(text) })).status).toBe(304);
  });

  it("gives certificates in a ConfigMap, which are no secret, to whoever is served what names them", async () => {
    const { ask, publish } = await secretFront(noAuthentication);
    const names = [
      "configmap://other/roots",
      "configmap://other/roots-cacert",
      "configmap://other/gone",
      "configmap://roots",
    ];
    const trustBundles = { "other/roots": { ca: "certificates", crl: "revoked" }, "other/unnamed": { ca: "unnamed" } };
    await publish({ ...worldNaming(...names), trustBundles });
    for (const name of names.slice(0, 2)) {
      const { status, text } = await ask(name);
      expect(status).toBe(200);
      expect(JSON.parse(text).resources).toEqual([
        {
          "@type": secretTypeUrl,
          name,
          validation_context: { trusted_ca: { inline_string: "certificates" }, crl: { inline_string: "revoked" } },
        },
      ]);
      expect((await ask(name, { version: versionIn(text) })).status).toBe(304);
    }
    for (const name of ["configmap://other/gone", "configmap://other/unnamed", "configmap://roots"])
      expect((await ask(name)).status).toBe(404);
    expect((await ask("configmap://other/roots", { node: nodeOf("plain") })).status).toBe(404);
    await publish({ ...worldNaming(...names), trustBundles: { "other/roots": { ca: "others" } } });
    expect((await ask(names[0] ?? "")).text).toContain('"inline_string":"others"');
  });

  it.each([
    ["that none of its resources names", "kubernetes://unnamed", 404],
    ["of another namespace, though named", "kubernetes://other/shop", 403],
    ["that is not there", "kubernetes://gone", 404],
    ["by another name than a credential's", "default", 404],
  ])("gives it none %s", async (_what, name, status) => {
    const { ask } = await secretFront();
    const answer = await ask(name);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain("inline_bytes");
  });

  it.each([
    ["the very secret", [{ from: "default", to: "other", name: "shop" }], 200],
    ["every secret of that namespace", [{ from: "default", to: "other" }], 200],
    ["another secret", [{ from: "default", to: "other", name: "shop-2" }], 403],
    ["gateways of another namespace", [{ from: "prod", to: "other", name: "shop" }], 403],
    ["secrets of another namespace", [{ from: "default", to: "prod" }], 403],
    ["nothing", [], 403],
  ])("gives a gateway a secret of another namespace that a grant is about: %s", async (_what, secretGrants, status) => {
    const { ask, publish } = await secretFront();
    const names = ["kubernetes-gateway://other/shop", "kubernetes://other/shop"];
    await publish({ ...worldNaming(...names), ...(secretGrants.length === 0 ? {} : { secretGrants }) });
    const [granted, named] = [await ask(names[0] ?? ""), await ask(names[1] ?? "")];
    expect(granted.status).toBe(status);
    expect(granted.text.includes(btoa("another's"))).toBe(status === 200);
    // A credential of an Istio Gateway or of a rule is never one of another namespace.
    expect(named.status).toBe(403);
  });

  it("gives a node of another class none of them", async () => {
    const { ask } = await secretFront();
    expect((await ask("kubernetes://shop", { node: nodeOf("plain") })).status).toBe(404);
  });

  it.each<[string, Authentication]>([
    ["anyone, where authentication is off", noAuthentication],
    ["an operator", by({ kind: "operator", subject: "o" })],
    ["a node of another namespace", by({ ...web, namespace: "shop" })],
    ["a reader of the v1 API", by({ kind: "v1", subject: "v" })],
  ])("gives none to %s", async (_who, authentication) => {
    const { ask } = await secretFront(authentication);
    const { status, text } = await ask("kubernetes://shop");
    expect([status, text]).toEqual([403, expect.not.stringContaining("inline_bytes")]);
  });

  it("gives one that is for some service accounts to their nodes only", async () => {
    for (const [serviceAccounts, status] of [
      [["gateway"], 403],
      [["gateway", "web"], 200],
    ] as const) {
      const { ask, secrets } = await secretFront();
      await secrets.put({ namespace: "default", name: "shop" }, { ...pair("x"), serviceAccounts });
      expect((await ask("kubernetes://shop")).status).toBe(status);
    }
  });

  it.each([
    ["of that cluster", "east", 200],
    ["of another cluster", "west", 403],
    ["that has proven none", undefined, 403],
  ])("gives one that is for a cluster to a node %s: %s", async (_whose, clusterId, status) => {
    const { ask, secrets } = await secretFront(by({ ...web, ...(clusterId === undefined ? {} : { clusterId }) }));
    await secrets.put({ namespace: "default", name: "shop" }, { ...pair("x"), clusters: ["east"] });
    expect((await ask("kubernetes://shop")).status).toBe(status);
  });

  it("serves none where the front has no key", async () => {
    const { ask } = await secretFront(by(web), { secrets: undefined });
    expect((await ask("kubernetes://shop")).status).toBe(404);
  });

  it("gives a waiting node the new secret as soon as it is there", async () => {
    const { ask, secrets } = await secretFront(by(web), { maxHoldMs: 20_000, limits: undefined });
    const version = versionIn((await ask("kubernetes://shop")).text);
    const startMs = performance.now();
    const waiting = ask("kubernetes://shop", { version, headers: { "x-envoy-expected-rq-timeout-ms": "25000" } });
    await secrets.put({ namespace: "default", name: "shop" }, pair("rotated"));
    const { status, text } = await waiting;
    expect([status, text]).toEqual([200, expect.stringContaining(btoa("rotated"))]);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });

  it("gives one that cannot be opened to nobody, and tells the log alone why, once however many ask", async () => {
    const store = memoryStore();
    await secretStore(store, wrappingKeys(makeWrappingKey(), "KEY")).put(
      { namespace: "default", name: "shop" },
      pair("x"),
    );
    const errors: unknown[] = [];
    const test = testFront({
      store,
      authentication: by(web),
      secrets: secretStore(store, wrappingKeys(makeWrappingKey(), "ANOTHER_KEY")),
      onError: (cause) => errors.push(String(cause)),
    });
    await test.publish(worldNaming("kubernetes://shop"));
    const body = JSON.stringify({ node: nodeOf("web"), resource_names: ["kubernetes://shop"] });
    const ask = () => test.request("/v3/discovery:secrets", { method: "POST", body });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        { detail: "the secret kubernetes://shop cannot be opened now; see the front's log for the reason" },
      ]);
    }
    expect(errors).toEqual([
      expect.stringContaining("the secret default/shop: ANOTHER_KEY does not hold the key env-"),
    ]);
  });

  it("leaves nothing of a secret in the snapshot, the history or a diff", async () => {
    const { store, secrets } = await secretFront();
    await secrets.put({ namespace: "default", name: "shop" }, pair("rotated"));
    for await (const { key } of store.list("")) {
      const found = await store.get(key);
      const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
      for (const part of ["s3cret", "rotated", btoa("s3cret"), btoa("rotated")]) expect(text).not.toContain(part);
    }
    expect(JSON.stringify(diffWorlds(worldNaming(), worldNaming("kubernetes://shop")))).not.toContain("inline");
  });
});
