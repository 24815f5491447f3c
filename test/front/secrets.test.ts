import { describe, expect, it } from "vitest";
import type { Authentication } from "../../lib/front/auth/authentication.ts";
import { authenticateBy, identified, noAuthentication } from "../../lib/front/auth/authentication.ts";
import type { Caller } from "../../lib/front/auth/caller.ts";
import { makeWrappingKey } from "../../lib/secrets/environment-key.ts";
import { secretStore } from "../../lib/secrets/secret-store.ts";
import { secretTypeUrl } from "../../lib/secrets/tls-secret.ts";
import { wrappingKeys } from "../../lib/secrets/wrapping-keys.ts";
import { diffWorlds } from "../../lib/snapshot/worlds/diff-worlds.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { resource, worldOf } from "../snapshot/worlds.ts";
import { nodeOf, testFront } from "./fixtures.ts";

const web: Caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" };
const by = (caller: Caller): Authentication => authenticateBy("test", [async () => identified(caller)]);
const pair = (key: string) => ({
  values: { "tls.crt": btoa("certificate"), "tls.key": btoa(key), "ca.crt": btoa("ca") },
});

/** A class whose listener names secrets, and one whose does not. */
function worldNaming(...names: readonly string[]) {
  const world = worldOf({ web: {}, plain: { listeners: { l: "1" } } });
  const configs = names.map((name) => ({ name, sdsConfig: {} }));
  const text = JSON.stringify({ "@type": "x", name: "l", configs });
  const listeners = [{ ...resource("listeners", "l", ""), text }];
  const classes = world.classes.map((one) =>
    one.id === "web" ? { ...one, poll: { ...one.poll, listeners }, stream: { ...one.stream, listeners } } : one,
  );
  const keys = ["web", "pay", "gateway"].map((account) => `${account}/web.default`);
  return { ...world, classes, nodes: [...world.nodes, { keys, classId: "web" }] };
}

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
