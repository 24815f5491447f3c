import { describe, expect, it } from "vitest";
import { analysisOf } from "../../lib/cli/config/analysis-report.ts";
import { createAnalyst } from "../../lib/compile/analyst.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../lib/compile/slices/compile-slice.ts";
import type { SliceJob } from "../../lib/compile/slices/plan.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { readAnalysis } from "../../lib/snapshot/analysis-record.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../lib/snapshot/upkeep/collectables.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

const file = "rules.yaml";
const text = (hosts: readonly string[]) =>
  hosts
    .map(
      (host) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${host}, namespace: shop }
spec: { host: ${host} }
`,
    )
    .join("---\n");

const compilerOf = (store: ObjectStore) =>
  createLeasedCompiler({ store, sources: ["main"], pace: { quietMs: 0, longestWaitMs: 0 }, onError: reportTo.push });

const reportTo = { push: (cause: unknown) => errors.push(cause) };
const errors: unknown[] = [];

async function publish(store: ObjectStore, hosts: readonly string[], recompile = compilerOf(store)) {
  await writeShard(store, "main", [{ file, text: text(hosts) }]);
  return recompile();
}

async function messagesOf(store: ObjectStore, root: string) {
  const record = await readAnalysis(store, root);
  return record?.kind === "analyzed" ? record.messages : undefined;
}

it("a compile records with its root what analyze reports", async () => {
  const store = memoryStore();
  const { version } = await publish(store, ["gone", "away"]);
  const recorded = await messagesOf(store, version);
  expect(recorded?.map(({ code, origin, path }) => [code, origin.file, origin.line, path.join(".")])).toEqual([
    ["IST0174", file, 1, "spec.host"],
    ["IST0174", file, 6, "spec.host"],
  ]);
  expect(recorded).toEqual(analysisOf(readFiles([{ file, text: text(["gone", "away"]) }])));
});

it("a server shows the messages of each version among its diagnostics", async () => {
  const store = memoryStore();
  await publish(store, ["gone"]);
  const front = createFront({ store });
  const app = frontApp(front);
  const ask = async (path: string) => (await app.request(path)).json();
  expect(await ask("/api/overview")).toMatchObject({ isAnalyzed: true, diagnostics: { warnings: 1 } });
  expect(await ask("/api/diagnostics")).toMatchObject({ total: 1, diagnostics: [{ code: "IST0174", file, line: 1 }] });
  front.close();
});

it("a version that was published without a record gets one in the next compile", async () => {
  const store = memoryStore();
  const { version } = await publish(store, ["gone"]);
  await store.delete(`analysis/${version}`);
  const again = await compilerOf(store)();
  expect(again).toMatchObject({ kind: "unchanged", version });
  expect(await messagesOf(store, version)).toHaveLength(1);
});

it("a record that cannot be written costs the publish nothing", async () => {
  const inner = memoryStore();
  const put: ObjectStore["put"] = (key, ...rest) =>
    key.startsWith("analysis/") ? Promise.reject(new Error("full")) : inner.put(key, ...rest);
  errors.length = 0;
  expect(await publish({ ...inner, put }, ["gone"])).toMatchObject({ kind: "published" });
  expect(errors).toEqual([new Error("full")]);
});

it("says nothing of credentials where no source holds a Secret", async () => {
  const gateway = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  servers:
    - { port: { number: 443, name: https, protocol: HTTPS }, hosts: ["*"], tls: { mode: SIMPLE, credentialName: web } }
`;
  const secret = `---
apiVersion: v1
kind: Secret
metadata: { name: other, namespace: shop }
data: { tls.crt: "" }
`;
  const store = memoryStore();
  const recompile = compilerOf(store);
  const codes = async (content: string) => {
    await writeShard(store, "main", [{ file, text: content }]);
    const { version } = await recompile();
    return (await messagesOf(store, version))?.map(({ code }) => code);
  };
  expect(await codes(gateway)).toEqual([]);
  expect(await codes(gateway + secret)).toEqual(["IST0101"]);
});

const hosts = ["gone", "away", "nowhere"];
const pace = { quietMs: 0, longestWaitMs: 0 };

describe("a world that is compiled in slices", () => {
  const whole = async () => {
    const store = memoryStore();
    return messagesOf(store, (await publish(store, hosts)).version);
  };

  it.each([true, false])("is recorded as a whole one; the process that publishes compiles a slice: %s", async (own) => {
    const store = memoryStore();
    const compile = createSliceCompiler(store);
    const dispatched: number[] = [];
    const dispatch = async (job: SliceJob) => {
      dispatched.push(job.index);
      await compile(job);
    };
    const fanOut = { dispatch, most: 2, compilesToo: own, sliceBytes: 100, waitMs: 60_000 };
    const { version } = await publish(store, hosts, createLeasedCompiler({ store, pace, fanOut }));
    expect(dispatched).toEqual(own ? [1] : [0, 1]);
    expect(await messagesOf(store, version)).toEqual(await whole());
  });

  it("is recorded as a whole one where there is little room", async () => {
    const store = memoryStore();
    const memoryLimits = { wholeBytes: 0, sliceBytes: 100, analyzedBytes: 10_000 };
    const { version } = await publish(store, hosts, createLeasedCompiler({ store, pace, memoryLimits }));
    expect(await messagesOf(store, version)).toEqual(await whole());
  });

  it("says why it was not analysed where there is no room for that, and is once a process has the room", async () => {
    const store = memoryStore();
    const memoryLimits = { wholeBytes: 0, sliceBytes: 100, analyzedBytes: 200 };
    const recompile = createLeasedCompiler({ store, pace, memoryLimits });
    const { version } = await publish(store, hosts, recompile);
    const why = "the sources have 0.0 MiB, and what compiled this version has room to analyze 0.0";
    expect(await readAnalysis(store, version)).toEqual({ kind: "not-analyzed", why });
    const front = createFront({ store });
    const app = frontApp(front);
    const ask = async () => (await app.request("/api/overview")).json();
    expect(await ask()).toMatchObject({ isAnalyzed: false, notAnalyzed: why, diagnostics: { warnings: 0 } });
    expect(await compilerOf(store)()).toMatchObject({ kind: "unchanged", version });
    expect(await messagesOf(store, version)).toEqual(await whole());
    expect(await ask()).toMatchObject({ isAnalyzed: true, diagnostics: { warnings: 3 } });
    front.close();
  });

  it("says why the analysers could not read it", async () => {
    const store = memoryStore();
    const { version } = await publish(store, hosts);
    await store.delete(`analysis/${version}`);
    for await (const { key } of store.list("sources/main/files/")) await store.delete(key);
    const analyst = createAnalyst(store);
    analyst.take(version, undefined);
    await expect(analyst.record()).rejects.toThrow("main");
    expect(await readAnalysis(store, version)).toMatchObject({
      kind: "not-analyzed",
      why: expect.stringContaining("main"),
    });
  });
});

it("a record is bounded, and counts what it leaves out", async () => {
  const store = memoryStore();
  const { version } = await publish(
    store,
    Array.from({ length: 1_200 }, (_, i) => `gone-${i}`),
  );
  const recorded = await messagesOf(store, version);
  expect(recorded).toHaveLength(1_001);
  expect(recorded?.at(-1)).toMatchObject({ code: "more-findings", severity: "warning" });
  expect(recorded?.at(-1)?.message).toContain("200 more");
});

it("a record goes with its root, and what is no record reads as none", async () => {
  const store = memoryStore();
  const recompile = compilerOf(store);
  const first = await publish(store, ["gone"], recompile);
  const second = await publish(store, ["gone", "away"], recompile);
  let nowMs = Date.now();
  const collect = () =>
    collectGarbage(store, { keepPublications: 0, graceMs: 0, now: () => nowMs, others: collectables });
  for (let round = 0; round < 3; round += 1) {
    nowMs += 3_600_000;
    await collect();
  }
  expect(await readAnalysis(store, first.version)).toBeUndefined();
  expect(await messagesOf(store, second.version)).toHaveLength(2);
  await store.put(`analysis/${second.version}`, new TextEncoder().encode('[{"code":1}]'));
  expect(await readAnalysis(store, second.version)).toBeUndefined();
});
