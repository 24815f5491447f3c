/** The config plane: reading the synthetic mesh as JSON and as YAML, storing it, and one update in a large ledger. */
import { dump } from "js-yaml";
import { createAnalysis } from "../../lib/analysis/remembered-analysis.ts";
import { keyText } from "../../lib/base/diagnostic.ts";
import { canonicalJson } from "../../lib/config/canonical-json.ts";
import { type Config, keyOf } from "../../lib/config/config.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { sortObjects } from "../../lib/config/folder/sort-objects.ts";
import { storedText } from "../../lib/config/object-json.ts";
import { openLedger } from "../../lib/config-store/ledger/ledger.ts";
import type { LedgerStore } from "../../lib/config-store/ledger/ledger-port.ts";
import { createLedgerStore } from "../../lib/config-store/ledger-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { BenchOptions, Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { type Timing, time, timingRow } from "./yardstick.ts";

function read(text: string) {
  const stream = parseStream(text, { file: "input.yaml" });
  return sortObjects(stream.value, { sourceOf: stream.sourceOf });
}

/** A store that counts what is written through it. */
function counted(store: LedgerStore) {
  const count = { objects: 0, bytes: 0 };
  const counting: LedgerStore = {
    get: (key) => store.get(key),
    put(key, bytes, condition) {
      count.objects++;
      count.bytes += bytes.length;
      return store.put(key, bytes, condition);
    },
  };
  return { counting, count };
}

async function ledgerUpdate(size: number, yard: Timing): Promise<Row> {
  const { counting, count } = counted(memoryStore());
  const ledger = openLedger(counting, "config");
  const info = { author: "bench", message: "update", timeMs: 0 };
  const change = (index: number, text: string) => ({ key: `VirtualService/ns-${index % 50}/vs-${index}`, text });
  const text = (index: number) => JSON.stringify({ spec: { hosts: [`host-${index}`] } });
  await ledger.write(
    Array.from({ length: size }, (_, index) => change(index, text(index))),
    info,
  );
  const before = { ...count };
  let next = size;
  const timing = await time(() => ledger.write([change(7, text(next++))], info), 50, 5);
  const writes = next - size;
  return {
    ...timingRow(`one update in a ledger of ${size} objects`, timing, yard),
    "objects written": (count.objects - before.objects) / writes,
    "bytes written": Math.round((count.bytes - before.bytes) / writes),
  };
}

async function storeLedger(configs: readonly Config[]): Promise<void> {
  const store = createLedgerStore(memoryStore(), { prefix: "config", author: "bench", now: () => 0 });
  await store.writeAll(
    configs.map((config) => ({ kind: "put", config, if: "absent" }) as const),
    "bench",
  );
}

/** Everything of the mesh, Kubernetes objects too: read, validated and stored, as a collector fills a source. */
async function readAndStore(json: string): Promise<void> {
  const { configs, objects } = read(json);
  const ledger = openLedger(memoryStore(), "config");
  const changes = [
    ...configs.map((config) => ({ key: keyText(keyOf(config)), text: storedText(config) })),
    ...objects.map(({ origin, ...object }) => ({ key: keyText(origin.key), text: canonicalJson(object) })),
  ];
  await ledger.write(changes, { author: "bench", message: "fill", timeMs: 0 });
}

/** The analysers from nothing, and again where one object is another one. */
function analyses(json: string): readonly (readonly [string, () => unknown])[] {
  const loaded = { ...readFiles([{ file: "input.yaml", text: json }]), clusterIds: [] };
  const analyze = createAnalysis();
  const { configs, objects } = loaded;
  const rule = configs.findIndex(({ meta }) => meta.kind === "VirtualService");
  const without = (wanted: string) => {
    const at = objects.findIndex(({ kind }) => kind === wanted);
    return { ...loaded, objects: objects.toSpliced(at, 1) };
  };
  const turns = (changed: typeof loaded) => {
    let isChanged = false;
    return () => {
      isChanged = !isChanged;
      return analyze(isChanged ? changed : loaded);
    };
  };
  return [
    ["all analysers", () => createAnalysis()(loaded)],
    ["the analysers after a VirtualService", turns({ ...loaded, configs: configs.toSpliced(rule, 1) })],
    ["the analysers after a Service", turns(without("Service"))],
    ["the analysers after an EndpointSlice", turns(without("EndpointSlice"))],
  ];
}

/** Istio's time to read and decode the objects, by services of the mesh. */
const istioDecodes: ReadonlyMap<number, number> = new Map([
  [100, 100],
  [1000, 400],
  [5000, 2200],
]);

export async function configBench({ report, yard, services, quick }: BenchOptions): Promise<void> {
  const rounds = quick ? 1 : 5;
  for (const size of services) {
    const json = syntheticMesh(size).text;
    const sorted = read(json);
    const yaml = sorted.objects.map(({ origin: _, ...object }) => dump(object)).join("---\n");
    const decodes = istioDecodes.get(size);
    const rows: Row[] = [];
    const row = async (what: string, run: () => unknown, istioMs?: number) =>
      rows.push(
        timingRow(what, await time(run, rounds, 1), yard, istioMs === undefined ? undefined : { cold: istioMs }),
      );
    await row("parse", () => parseStream(json, { file: "input.yaml" }));
    await row("parse and validate", () => read(json), decodes);
    await row(`parse ${(yaml.length / 1e6).toFixed(1)} MB of block YAML`, () =>
      parseStream(yaml, { file: "input.yaml" }),
    );
    await row(`store its ${sorted.configs.length} configs in a ledger`, () => storeLedger(sorted.configs));
    await row("read, validate and store all of it in a ledger", () => readAndStore(json));
    for (const [what, run] of analyses(json)) await row(what, run);
    const objects = sorted.configs.length + sorted.objects.length;
    report.table(
      `Config of ${size} services: ${objects} objects, ${(json.length / 1e6).toFixed(1)} MB of JSON documents`,
      rows,
    );
  }
  const ledgers: Row[] = [];
  for (const size of [100, 1000, 10_000]) ledgers.push(await ledgerUpdate(size, yard));
  report.table("Ledger", ledgers);
}
