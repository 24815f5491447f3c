import { describe, expect, it } from "vitest";
import { collectedSources } from "../../lib/compile/shards/collect-sources.ts";
import { listKey } from "../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { sha256 } from "../../lib/config/canonical-json.ts";
import { recordedIn } from "../../lib/front/nodes/node-records.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { recoverHead } from "../../lib/snapshot/head/recover-head.ts";
import { missedBlobKey } from "../../lib/snapshot/nodes/wanted.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../lib/snapshot/upkeep/collectables.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { pods, routes } from "./planes/shop.ts";

const secret = "s3cret";
const nowMs = Date.UTC(2026, 0, 1);
const now = () => nowMs;
const at = new Date(nowMs).toISOString();
const endless = 1e300;
const note = { serial: 1, turn: 1, state: "free", holder: "x", atMs: 1, ended: 1, asks: [] };
const held = { name: "main", version: "of the next push", reason: "x", deaths: 1 };

/** What any of the objects may hold. */
const anything = ["", "garbage{", "\u0000\ufffd", "null", "0", '"x"', "[]", "[null]", "{}", "[[]]", '{"a":{}}'];

/** State objects of a store, and what each might hold besides that is nearly of its form. */
const objects: Readonly<Record<string, readonly unknown[]>> = {
  "compile/held-sources": [
    [held],
    [{ ...held, retryMs: endless }],
    [{ ...held, retryMs: -1, instead: "none" }],
    [{ ...held, deaths: endless, retryMs: 1 }],
  ],
  "compile/lease": [
    { ...note, asks: [null] },
    { ...note, asks: [{ from: "x", by: 1, why: {} }] },
    { ...note, state: "running", turn: Number.MAX_SAFE_INTEGER },
    { ...note, state: "gathering", turn: 5 },
    { ...note, state: "running", ended: Number.MAX_SAFE_INTEGER, outcome: null },
    { ...note, state: "running", ended: Number.MAX_SAFE_INTEGER, outcome: { kind: "compiled" } },
    { ...note, state: "running", ended: Number.MAX_SAFE_INTEGER, outcome: { kind: "failed", reason: 1 } },
    { ...note, deaths: "many" },
  ],
  "compile/settings": [
    { pollDelayMs: endless },
    { pollDelayMs: "soon", sources: [1], securityFailure: 1, legacyApi: {} },
    { sources: ["none"] },
  ],
  "gc/ledger": [
    { since: at, doomed: [null], deleted: [], finished: true, budgetMs: 1 },
    { since: at, doomed: [], deleted: [], finished: false, budgetMs: endless },
  ],
  "hooks/operators/d0": ["begun"],
  "confirmed/aaaa-1": ["x y z"],
  "status/front/0": [
    { at, nodes: [null] },
    { at, nodes: [{ node: 1, resources: {} }] },
    { at, nodes: [{ node: "a", resources: [null] }] },
  ],
  "sources/main/state": [{ asOfMs: endless, failure: "x" }, { asOfMs: -endless, failure: "x" }, { asOfMs: "x" }],
  "sources/other/list": [{ files: [null] }, { files: [{ file: "x", hash: "0" }] }, { files: {}, runs: [1] }],
  "sources/other/head": [{ root: "0".repeat(64), about: { kind: "consul" } }],
  "wanted/aaaa-bbbb-cccc": [{ id: 1 }, { id: "sidecar~1.2.3.4~a.b~c", wanted: true, labels: [] }],
  [missedBlobKey]: [],
  "heads/0000000001": [],
  "heads/9999999999": [],
};

/** The version of the source after it. */
async function versionOf(timeout: string): Promise<string> {
  const store = memoryStore(now);
  await fill(store, timeout);
  const list = await store.get(listKey("main"));
  return list.kind === "found" ? sha256(new TextDecoder().decode(list.bytes)) : "";
}

const fill = (store: ObjectStore, timeout: string) =>
  writeShard(store, "main", [
    { file: "pods.yaml", text: pods("10.0.0.1") },
    { file: "routes.yaml", text: routes(timeout) },
  ]);

const cases = Object.entries(objects).flatMap(([key, nearly]) =>
  [...anything, ...nearly.map((value) => (typeof value === "string" ? value : JSON.stringify(value)))].map(
    (text) => [key, text] as const,
  ),
);

function scene() {
  const store = memoryStore(now);
  const onError = () => {};
  // Time goes by at once: a lease that nobody renews is old after a few looks.
  const pace = { quietMs: 0, leaseMs: 30, pollMs: 5 };
  const app = webhookApp({
    store,
    recompile: createLeasedCompiler({ store, sources: ["main"], pace, onError, now }),
    secrets: { ...noSecrets, operators: [secret] },
    sources: ["main"],
    onError,
  });
  let deliveries = 0;
  const push = async (timeout: string) => {
    deliveries += 1;
    await fill(store, timeout);
    const request = { method: "POST", target: "/hooks/recompile", body: new Uint8Array() };
    const headers = await signRequest(secret, request, `d${deliveries}`, Date.now());
    const response = await app.request(request.target, { method: "POST", headers });
    const answer: unknown = await response.json();
    return { status: response.status, answer };
  };
  return { store, push };
}

describe("a state object that holds something else", () => {
  it.each(cases)("%s: %j stops no publish and no upkeep", async (key, text) => {
    const { store, push } = scene();
    const next = await versionOf("3s");
    await push("1s");
    await push("2s");
    await store.put(key, new TextEncoder().encode(text.replace(held.version, next)));
    expect(await push("3s")).toMatchObject({ status: 200, answer: { kind: "published" } });
    expect((await recordedIn(store, nowMs)).nodes).toEqual([]);
    const problems = (await fsck(store)).problems.filter((problem) => !problem.startsWith("gc/ledger"));
    expect(problems).toEqual([]);
    const others = [...collectables, collectedSources];
    expect(await collectGarbage(store, { keepPublications: 5, graceMs: 0, now, others })).toMatchObject({ done: true });
    await rollback(store, 1, { now, pace: { settleMs: 0, retentionMs: 0 } });
    await store.delete("HEAD");
    await recoverHead(store, { now });
    expect((await readHead(store))?.head.pin).toBeDefined();
  });
});
