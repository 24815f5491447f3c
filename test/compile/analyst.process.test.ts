import { expect, it } from "vitest";
import { analysisOf } from "../../lib/cli/config/analysis-report.ts";
import { createAnalyst, maxAnalyzedObjects } from "../../lib/compile/analyst.ts";
import { createSourcesCompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
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

it("a compile records with its root what analyze reports", async () => {
  const store = memoryStore();
  const { version } = await publish(store, ["gone", "away"]);
  const recorded = await readAnalysis(store, version);
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
  expect(await readAnalysis(store, version)).toHaveLength(1);
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
    return (await readAnalysis(store, version))?.map(({ code }) => code);
  };
  expect(await codes(gateway)).toEqual([]);
  expect(await codes(gateway + secret)).toEqual(["IST0101"]);
});

it("a world beyond the bound is not analysed", async () => {
  const store = memoryStore();
  await publish(store, ["gone"]);
  const { compiled } = await createSourcesCompiler({ store, sources: ["main"] })();
  const analyst = createAnalyst(store);
  const configs = Array.from({ length: maxAnalyzedObjects + 1 }, () => compiled.loaded.configs).flat();
  analyst.take("large", { ...compiled.loaded, configs });
  await analyst.record();
  expect(await readAnalysis(store, "large")).toBeUndefined();
});

it("a record is bounded, and counts what it leaves out", async () => {
  const store = memoryStore();
  const { version } = await publish(
    store,
    Array.from({ length: 1_200 }, (_, i) => `gone-${i}`),
  );
  const recorded = await readAnalysis(store, version);
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
  expect(await readAnalysis(store, second.version)).toHaveLength(2);
  await store.put(`analysis/${second.version}`, new TextEncoder().encode('[{"code":1}]'));
  expect(await readAnalysis(store, second.version)).toBeUndefined();
});
