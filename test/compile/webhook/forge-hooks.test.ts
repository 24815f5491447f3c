import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { judgeGitlabHeaders } from "../../../lib/compile/webhook/gitlab.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets, readWebhookSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const nowMs = Date.UTC(2026, 0, 8);
const daysAgo = (days: number) => nowMs / 1000 - days * 24 * 3600;
const signingKey = Buffer.from("a key of GitLab's").toString("base64");

function testApp() {
  let runs = 0;
  const recompile = async () => {
    runs += 1;
    return { kind: "unchanged", version: "v", generation: 1, diagnostics: [] } as const;
  };
  const secrets = {
    ...noSecrets,
    operators: ["operators"],
    github: new Map([["main", ["hub", "old hub"]]]),
    gitlab: new Map([["main", ["lab", `whsec_${signingKey}`]]]),
  };
  const app = webhookApp({ store: memoryStore(), recompile, secrets, sources: ["main", "team"], now: () => nowMs });
  const post = async (path: string, headers: Readonly<Record<string, string>>, body: string) =>
    (await app.request(path, { method: "POST", headers, body })).status;
  return { post, runs: () => runs };
}

const push = (pushedAt: unknown = daysAgo(0)) =>
  JSON.stringify({ ref: "refs/heads/main", repository: { pushed_at: pushedAt } });
const github = (body: string, secret = "hub", delivery = "d1") => ({
  "content-type": "application/json",
  "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  "x-github-delivery": delivery,
});

describe("POST /hooks/github/<source>", () => {
  it.each(["hub", "old hub"])(
    "compiles for a push that is signed with one of the source's secrets, %s",
    async (secret) => {
      const { post, runs } = testApp();
      expect(await post("/hooks/github/main", github(push(), secret), push())).toBe(200);
      expect(runs()).toBe(1);
    },
  );

  it("is triggered once by one push, under whatever delivery id it comes again, however long after", async () => {
    const { post, runs } = testApp();
    expect(await post("/hooks/github/main", github(push()), push())).toBe(200);
    expect(await post("/hooks/github/main", github(push(), "hub", "d2"), push())).toBe(409);
    expect(await post("/hooks/github/main", github(push(daysAgo(4))), push(daysAgo(4)))).toBe(401);
    expect(runs()).toBe(1);
  });

  it("allows for GitHub's clock to be ahead by five minutes", async () => {
    const { post } = testApp();
    const [ahead, tooFar] = [push(nowMs / 1000 + 300), push(nowMs / 1000 + 301)];
    expect(await post("/hooks/github/main", github(ahead), ahead)).toBe(200);
    expect(await post("/hooks/github/main", github(tooFar), tooFar)).toBe(401);
  });

  it("answers a ping, and does nothing", async () => {
    const { post, runs } = testApp();
    expect(
      await post("/hooks/github/main", github('{"zen":"Speak like a human."}'), '{"zen":"Speak like a human."}'),
    ).toBe(200);
    expect(runs()).toBe(0);
  });

  it("ignores a genuine delivery of an event that is no push, as often as it comes, and compiles nothing", async () => {
    const { post, runs } = testApp();
    const body = '{"action":"opened","repository":{"pushed_at":"2026-01-08T00:00:00Z"}}';
    expect(await post("/hooks/github/main", github(body), body)).toBe(200);
    expect(await post("/hooks/github/main", github(body), body)).toBe(200);
    expect(await post("/hooks/github/main", github(body, "another"), body)).toBe(401);
    expect(runs()).toBe(0);
  });

  it.each([
    ["another source's path", "/hooks/github/team", github(push()), push()],
    ["the hook of our own form", "/hooks/recompile", github(push()), push()],
    ["a body that was not signed", "/hooks/github/main", github(push()), push(daysAgo(1))],
    ["a push without a time", "/hooks/github/main", github(push(null)), push(null)],
    ["a time that is no number", "/hooks/github/main", github(push("NaN")), push("NaN")],
    [
      "a push of the day after tomorrow, which could be sent again for as long",
      "/hooks/github/main",
      github(push(daysAgo(-2))),
      push(daysAgo(-2)),
    ],
    ["the operators' secret", "/hooks/github/main", github(push(), "operators"), push()],
    ["no signature", "/hooks/github/main", { "content-type": "application/json" }, push()],
  ])("refuses %s", async (_what, path, headers, body) => {
    const { post, runs } = testApp();
    expect(await post(path, headers, body)).toBe(401);
    expect(runs()).toBe(0);
  });

  it("shares a secret that can do nothing else", async () => {
    const { post } = testApp();
    const body = '{"files":[]}';
    const signable = { method: "POST", target: "/sources/main", body: new TextEncoder().encode(body) };
    expect(await post("/sources/main", await signRequest("hub", signable, "k", nowMs), body)).toBe(401);
  });
});

const gitlab = (body: string, { key = signingKey, atMs = nowMs, id = "w1" } = {}) => {
  const timestamp = String(atMs / 1000);
  const mac = createHmac("sha256", Buffer.from(key, "base64")).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
};

describe("POST /hooks/gitlab/<source>", () => {
  it("compiles once for a signed delivery", async () => {
    const { post, runs } = testApp();
    expect(await post("/hooks/gitlab/main", gitlab("{}"), "{}")).toBe(200);
    expect(await post("/hooks/gitlab/main", gitlab("{}"), "{}")).toBe(409);
    expect(runs()).toBe(1);
  });

  it("compiles for a token, once for each delivery", async () => {
    const { post } = testApp();
    const headers = { "x-gitlab-token": "lab", "idempotency-key": "w2" };
    expect(await post("/hooks/gitlab/main", headers, "{}")).toBe(200);
    expect(await post("/hooks/gitlab/main", headers, "{}")).toBe(409);
  });

  it.each([
    ["another token", { "x-gitlab-token": "lap", "idempotency-key": "w3" }],
    ["the signing key as a token", { "x-gitlab-token": `whsec_${signingKey}`, "idempotency-key": "w3" }],
    ["a token without a delivery's name", { "x-gitlab-token": "lab" }],
    ["a signature with another key", gitlab("{}", { key: "bm8=" })],
    ["a signature of another body", gitlab("[]")],
    ["a signature that is too old", gitlab("{}", { atMs: nowMs - 301_000 })],
    ["a time that is no number", { ...gitlab("{}"), "webhook-timestamp": "NaN" }],
    ["another delivery's name", { ...gitlab("{}"), "webhook-id": "w4" }],
    ["a broken signature beside the right token", { ...gitlab("[]"), "x-gitlab-token": "lab" }],
    ["nothing", {}],
  ])("refuses %s", async (_what, headers) => {
    const { post, runs } = testApp();
    expect(await post("/hooks/gitlab/main", headers, "{}")).toBe(401);
    expect(runs()).toBe(0);
  });
});

it("a signature of GitLab's is refused before its body is read where no signing token is known", async () => {
  const header = (name: string) => new Map(Object.entries(gitlab("{}"))).get(name);
  expect(await judgeGitlabHeaders(["lab"], header, nowMs)).toMatchObject({ kind: "refused" });
  expect(await judgeGitlabHeaders(["lab", `whsec_${signingKey}`], header, nowMs)).toBeUndefined();
});

describe("readWebhookSecrets", () => {
  it("reads the new secret and the old", () => {
    const secrets = readWebhookSecrets({ WEBHOOK_SECRET: "a b", SOURCE_SECRETS: '{"main":"c d"}' });
    expect(secrets).toEqual({ ...noSecrets, operators: ["a", "b"], sources: new Map([["main", ["c", "d"]]]) });
  });

  it.each([
    [{ WEBHOOK_SECRET: "sesame a b" }, "P_WEBHOOK_SECRET: 3 secrets"],
    [{ GITHUB_SECRETS: "sesame" }, "P_GITHUB_SECRETS is not JSON"],
    [{ GITLAB_SECRETS: '{"main":["sesame"]}' }, "P_GITLAB_SECRETS is not JSON"],
  ])("names the setting that it cannot read, and not its content", (settings, message) => {
    const read = () => readWebhookSecrets(settings, "P_");
    expect(read).toThrow(message);
    expect(read).not.toThrow("sesame");
  });
});
