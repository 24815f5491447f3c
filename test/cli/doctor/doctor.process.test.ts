import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authenticationCheck } from "../../../lib/cli/doctor/authentication-check.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { noAuthentication } from "../../../lib/front/auth/authentication.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import { createFront } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { makeSigningKey, publicPart } from "../../../lib/snapshot/head/signing-keys.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { startPlatform } from "../../e2e/platform.ts";
import { nowMs, tokenOf } from "../../front/auth/keys.ts";
import { runPortolan } from "../run-portolan.ts";
import { doctor, gateway, publishedShop, samples } from "./deployments.ts";

const secret = "a-shared-secret";
const closing: (() => unknown)[] = [];
const key = await makeSigningKey("tokens");
let store: ObjectStore;
let [folder, open, held, jsonOnly, guarded, compile] = ["", "", "", "", "", ""];

beforeAll(async () => {
  store = await publishedShop();
  const binary = await publishedShop(true);
  folder = await mkdtemp(join(tmpdir(), "portolan-doctor-"));
  const tokens = { keys: [publicPart(key)] };
  await writeFile(join(folder, "token"), await tokenOf(key, { scope: "node", namespace: "bookshop" }));
  await writeFile(join(folder, "other"), await tokenOf(key, { scope: "node", namespace: "default" }));
  const serve = async (authentication = noAuthentication, { connect = false, maxHoldMs = 0, from = store } = {}) => {
    const front = createFront({ store: from, authentication, maxHoldMs });
    const app = frontApp(front);
    if (connect) mountConnect(app, front);
    const server = await serveHttp(app, 0);
    closing.push(() => front.close(), server.close);
    return server.url;
  };
  open = await serve();
  held = await serve(noAuthentication, { connect: true, maxHoldMs: 60_000, from: binary });
  jsonOnly = await serve(noAuthentication, { connect: true });
  guarded = await serve(readAuthentication(JSON.stringify({ tokens }), { now: () => nowMs }));
  const secrets = { ...noSecrets, operators: [secret] };
  const recompile = createRecompiler({ store, sources: ["main"] });
  const server = await serveHttp(webhookApp({ store, recompile, secrets, sources: ["main"] }), 0);
  closing.push(server.close);
  compile = server.url;
  process.env.PORTOLAN_WEBHOOK_SECRET = secret;
}, 60_000);
afterAll(async () => {
  delete process.env.PORTOLAN_WEBHOOK_SECRET;
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

describe("portolan doctor, of a front that is as it should be", () => {
  it("passes over plain HTTP on this machine, and says what does not apply", async () => {
    const found = await doctor(open, "--node", gateway, "--timeout", "7");
    expect([found.code, found.err, found.failed]).toEqual([0, "", 0]);
    expect(found.statuses).toEqual({
      dns: "skipped",
      connection: "passed",
      tls: "skipped",
      "certificate chain": "skipped",
      "certificate name": "skipped",
      "certificate dates": "skipped",
      host: "passed",
      portolan: "passed",
      head: "passed",
      clock: "passed",
      cors: "passed",
      authentication: "passed",
      "poll clusters": "passed",
      "poll endpoints": "skipped",
      "poll listeners": "passed",
      "poll routes": "passed",
      "poll unchanged": "passed",
      hold: "passed",
      connect: "skipped",
      "grpc-web": "skipped",
      webhook: "skipped",
      "webhook source": "skipped",
    });
    expect(found.said("head")).toBe("passed: serves generation 1, and HEAD is confirmed");
    expect(found.said("hold")).toMatch(/^passed: polls are /);
    expect(found.said("poll unchanged")).toBe("passed: clusters, listeners, routes: 304");
    expect(found.said("connect")).toContain("serves REST alone");
  });

  it("leaves no node without a class behind", async () => {
    expect((await doctor(open)).said("authentication")).toMatch(/^passed: off/);
    expect(await (await fetch(new URL("/strangers", open))).json()).toEqual({ strangers: [] });
  });

  it("finds out that polls are held, and that Connect and gRPC-Web are served", async () => {
    const found = await doctor(held, "--node", gateway, "--timeout", "8");
    expect(found.code).toBe(0);
    expect(found.said("hold")).toMatch(/^passed: polls are held: for /);
    expect(found.said("connect")).toBe("passed: FetchClusters is answered");
    expect(found.said("grpc-web")).toBe("passed: FetchClusters is answered");
  });

  it("warns of gRPC-Web over a snapshot that has no binary answers", async () => {
    const found = await doctor(jsonOnly, "--node", gateway, "--timeout", "5");
    expect([found.code, found.said("connect")]).toEqual([0, "passed: FetchClusters is answered"]);
    expect(found.said("grpc-web")).toMatch(/^warning: grpc-status 9: this snapshot holds no binary forms; /);
    expect(found.remedy("grpc-web")).toContain("BINARY_FORMS");
  });

  it.each(["cloudflare", "lambda"] as const)(
    "passes behind %s, with the bootstrap and the token of a node",
    async (kind) => {
      const platform = await startPlatform(kind, guarded);
      closing.push(() => platform.close());
      const at = ["--server", platform.url, "--ca", platform.caFile];
      const token = join(folder, "token");
      const envoy = join(folder, kind);
      const written = ["bootstrap", gateway, "--dir", samples, ...at, "--token-file", token, "--out", envoy];
      expect((await runPortolan(...written)).code).toBe(0);
      const bootstrap = ["--bootstrap", join(envoy, "envoy.yaml"), "--token-file", token];
      const found = await doctor(platform.url, "--ca", platform.caFile, ...bootstrap, "--timeout", "7");
      expect([found.code, found.failed]).toEqual([0, 0]);
      expect(found.said("tls")).toBe("passed: TLSv1.3, with HTTP/2 and HTTP/1.1");
      expect(found.said("certificate name")).toBe("passed: is for localhost");
      expect(found.said("certificate dates")).toMatch(/^warning: [01] days? left/);
      expect(found.said("authentication")).toBe(
        "passed: requests without a token are refused, and this token is taken",
      );
      expect(found.said("host")).toMatch(
        /^passed: Host localhost:\d+, which the bootstrap's Envoy asks for, is served$/,
      );
      expect(["clusters", "listeners", "routes", "unchanged"].map((name) => found.statuses[`poll ${name}`])).toEqual(
        Array(4).fill("passed"),
      );
    },
  );

  it.each([
    ["cloudflare", 409],
    ["lambda", 403],
  ] as const)("says of %s that an Envoy without the filter for its Host gets %d there", async (kind, status) => {
    const platform = await startPlatform(kind, open);
    closing.push(() => platform.close());
    const found = await doctor(platform.url, "--ca", platform.caFile);
    expect(found.said("host")).toContain(`Host portolan, a cluster's name, gets ${status}`);
    const bare = join(folder, "bare.json");
    await writeFile(bare, JSON.stringify({ node: { id: gateway } }));
    const failing = await doctor(platform.url, "--ca", platform.caFile, "--bootstrap", bare);
    expect(failing.said("host")).toBe(`failed: the bootstrap's Envoy asks for Host portolan, and gets ${status}`);
    expect(failing.remedy("host")).toContain(`portolan bootstrap POD.NAMESPACE --server ${platform.url}`);
  });

  it("asks the compile function with the secret, and changes nothing", async () => {
    const before = await store.get("HEAD");
    const found = await doctor(open, "--compile-url", compile);
    expect(found.code).toBe(0);
    expect(found.said("webhook")).toBe("passed: takes this secret, and refuses requests without it");
    expect(found.said("webhook source")).toBe("passed: main may be filled");
    expect(await store.get("HEAD")).toEqual(before);
    const names = [];
    for await (const { key } of store.list("hooks/")) names.push(key);
    expect(names).toEqual([]);
  });
});

describe("portolan doctor, of a request that is refused", () => {
  it("fails without a token where a node is named, and says how to make one", async () => {
    const found = await doctor(guarded, "--node", gateway);
    expect(found.code).toBe(1);
    expect(found.said("authentication")).toBe("failed: requests without a token are refused, and none was given");
    expect(found.remedy("authentication")).toContain("portolan token create --namespace");
    expect(found.said("poll clusters")).toBe("skipped: needs authentication to pass");
  });

  it("passes without a node: that nobody is served without a token is right", async () => {
    const found = await doctor(guarded);
    expect([found.code, found.said("authentication")]).toEqual([0, "passed: requests without a token are refused"]);
  });

  it("fails with a token of other nodes, and with one of no key", async () => {
    const node = ["--bootstrap", await bootstrapHere()];
    const other = await doctor(guarded, ...node, "--token-file", join(folder, "other"));
    expect(other.said("authentication")).toMatch(/^failed: the token is refused with 403: /);
    await writeFile(join(folder, "wrong"), "no.token.atall");
    const wrong = await doctor(guarded, ...node, "--token-file", join(folder, "wrong"));
    expect(wrong.said("authentication")).toMatch(/^failed: the token is refused with 401: /);
    expect(wrong.remedy("authentication")).toContain("a key that this front trusts");
  });

  it("warns of a token that has expired and is taken while clocks may differ, with the seconds that are left", async () => {
    const madeMs = nowMs - 3_612_000;
    const token = await tokenOf(key, { scope: "node", namespace: "bookshop" }, 3_600, madeMs);
    const deployment = { url: new URL(guarded), timeoutMs: 10_000, caName: "", token };
    const [finding] = await authenticationCheck(deployment, nowMs);
    expect(finding).toMatchObject({
      status: "warning",
      text: "requests without a token are refused; this token has expired, and is still taken for 18 seconds, in case clocks differ",
      remedy: expect.stringContaining("portolan token create"),
    });
  });

  it("fails for a node that no class was compiled for", async () => {
    const found = await doctor(open, "--node", "nobody.nowhere", "--timeout", "7");
    expect(found.said("poll clusters")).toMatch(/^failed: answers 404: node "nobody.nowhere" is not known/);
    expect(found.remedy("poll clusters")).toContain("portolan bootstrap");
    for (const name of ["poll endpoints", "hold"])
      expect(found.said(name)).toBe("skipped: needs poll clusters to pass");
    expect(found.said("poll routes")).toBe("skipped: needs poll listeners to pass");
  });

  it("fails with another secret, and for a source that the compile function has not", async () => {
    const source = await doctor(open, "--compile-url", compile, "--source", "kubernetes");
    expect(source.said("webhook source")).toBe(
      "failed: the compile function has no source kubernetes: a push gets 404",
    );
    expect(source.remedy("webhook source")).toContain("add kubernetes to SOURCES");
    process.env.PORTOLAN_WEBHOOK_SECRET = "another";
    const other = await doctor(open, "--compile-url", compile);
    process.env.PORTOLAN_WEBHOOK_SECRET = secret;
    expect(other.said("webhook")).toBe("failed: the signature is refused: the signature is wrong");
    const front = await doctor(open, "--compile-url", open);
    expect(front.said("webhook")).toMatch(/^failed: a request without a signature gets 404/);
  });

  it("fails where the URL is the compile function's", async () => {
    const found = await doctor(compile);
    expect([found.code, found.said("portolan")]).toEqual([1, "failed: this is a compile function"]);
  });
});

describe("portolan doctor's output", () => {
  it("is one line a check with a mark, what to do below what failed, and a sum", async () => {
    const { code, out, err } = await runPortolan("doctor", guarded, "--node", gateway);
    expect([code, err]).toEqual([1, "portolan: 1 check failed"]);
    expect(out.split("\n")).toContain(`✓ connection         127.0.0.1 port ${new URL(guarded).port} takes connections`);
    expect(out).toMatch(/^✗ authentication {5}.*\n {2}what to do: give a node's token with --token-file/m);
    expect(out).toMatch(/^- poll clusters {6}skipped: needs authentication to pass$/m);
    expect(out).toMatch(/\n\d+ passed, 0 with a warning, 1 failed, \d+ skipped$/);
  });

  it.each([
    [["ftp://x"], "doctor needs a URL of http or https"],
    [["http://x/y"], "doctor takes only the URL of a server: http://x"],
    [["http://x", "--metadata", "f"], "--metadata needs --node"],
    [["http://x", "--node", "a", "--bootstrap", "b"], "give one of --node and --bootstrap"],
  ])("refuses %j as a wrong command line", async (args, message) => {
    const { code, err } = await runPortolan("doctor", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  it("says which file cannot be read", async () => {
    const absent = await runPortolan("doctor", open, "--bootstrap", join(folder, "absent"));
    expect([absent.code, absent.err]).toEqual([1, expect.stringContaining("there is no such file")]);
    await writeFile(join(folder, "empty.yaml"), "admin: {}\n");
    const empty = await runPortolan("doctor", open, "--bootstrap", join(folder, "empty.yaml"));
    expect(empty.err).toContain("has no node.id");
  });
});

/** A bootstrap of the gateway, for its metadata. */
async function bootstrapHere(): Promise<string> {
  const file = join(folder, "here.json");
  const { out } = await runPortolan("bootstrap", gateway, "--dir", samples, "--json");
  await writeFile(file, out);
  return file;
}
