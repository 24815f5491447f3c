import { describe, expect, it } from "vitest";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/base/diagnostic.ts";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const about = (file: string): Diagnostic => ({
  code: "invalid-value",
  severity: "error",
  origin: fileOrigin(file),
  path: [],
  message: `of ${file}`,
  hint: "",
});

const ofB = [
  "b",
  "b/x.yaml",
  "b/applied:VirtualService",
  "source b",
  "source b, version 7",
  "cluster of-b, namespace n",
];
const ofMain = ["x.yaml", "applied:y", "bb/z.yaml"];
const ofNobody = ["", "HEAD", "a", "a/x.yaml", "source a, version 1", "source bb", "cluster of-both, namespace n"];
const all = [...ofB, ...ofMain, ...ofNobody].map(about);

async function place({ fails = false } = {}) {
  const store = memoryStore();
  for (const name of ["main", "a"]) await writeShard(store, name, [{ file: "x.yaml", text: "{}" }]);
  const clusters = [
    ["b", "of-b"],
    ["c", "of-both"],
    ["d", "of-both"],
  ] as const;
  for (const [source, cluster] of clusters) {
    const kind = "kubernetes";
    const writer = createShardWriter(store, { source, about: { kind, cluster }, identity: () => undefined });
    await writer.load(new Map());
    await writer.write(new Map(), true);
  }
  const told: unknown[] = [];
  const app = webhookApp({
    store,
    recompile: async () => {
      if (fails) throw new PortolanError("of x.yaml", all);
      return { kind: "published", version: "v", generation: 1, primary: "main", diagnostics: all };
    },
    secrets: {
      ...noSecrets,
      operators: ["op"],
      fronts: ["front"],
      sources: new Map(["main", "a", "b", "c"].map((name) => [name, [`secret of ${name}`]])),
      gitlab: new Map([["b", ["forge"]]]),
    },
    sources: ["main", "a", "b", "c"],
    onError: (cause) => told.push(cause),
  });
  const ask = async (secret: string, target = "/hooks/recompile", body = "") => {
    const signable = { method: "POST", target, body: new TextEncoder().encode(body) };
    const headers = await signRequest(secret, signable, crypto.randomUUID(), Date.now());
    const response = await app.request(target, { method: "POST", headers, body });
    const text = await response.text();
    const { diagnostics = [] }: { readonly diagnostics?: readonly Diagnostic[] } = JSON.parse(text);
    return { status: response.status, text, files: diagnostics.map(({ origin }) => origin.file) };
  };
  return { app, ask, told };
}

describe("diagnostics in the answers of a compile function", () => {
  it.each([
    ["op", all.map(({ origin }) => origin.file)],
    ["front", []],
    ["secret of b", ofB],
    ["secret of a", ["a", "a/x.yaml", "source a, version 1"]],
    ["secret of main", ofMain],
    ["secret of c", []],
  ])("are those of the sources that the secret is for: %s", async (secret, files) => {
    const { ask } = await place();
    expect((await ask(secret)).files).toEqual(files);
  });

  it("are those of the source that is pushed", async () => {
    const { ask } = await place();
    const body = JSON.stringify({ allowEmpty: true, files: [{ file: "x.yaml", text: "{}" }] });
    expect((await ask("secret of a", "/sources/a", body)).files).toEqual(["a", "a/x.yaml", "source a, version 1"]);
    expect((await ask("op", "/sources/a", body)).files.length).toBe(all.length);
  });

  it("are those of the source whose forge tells of a push", async () => {
    const { app } = await place();
    const headers = { "x-gitlab-token": "forge", "x-gitlab-event": "Push Hook", "x-gitlab-event-uuid": "1" };
    const response = await app.request("/hooks/gitlab/b", { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain("b/x.yaml");
    expect(text).not.toContain("a/x.yaml");
  });

  it("are so in a refusal too, of which the log has all", async () => {
    const { ask, told } = await place({ fails: true });
    const { status, text, files } = await ask("secret of b");
    expect([status, files]).toEqual([422, ofB]);
    expect(text).not.toContain("of x.yaml");
    expect(told).toHaveLength(1);
    expect((await ask("op")).files.length).toBe(all.length);
  });
});
