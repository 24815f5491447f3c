/** The config plane: reading the synthetic mesh as JSON and as YAML, storing it, and one update in a large ledger. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dump } from "js-yaml";
import { canonicalJson } from "../../lib/config/canonical-json.ts";
import { type Config, keyOf } from "../../lib/config/config.ts";
import { keyText } from "../../lib/config/diagnostic.ts";
import { openLedger } from "../../lib/config/ledger/ledger.ts";
import type { LedgerStore } from "../../lib/config/ledger/ledger-port.ts";
import { storedText } from "../../lib/config/object-json.ts";
import { parseStream } from "../../lib/config/parse.ts";
import { sortObjects } from "../../lib/config/sort-objects.ts";
import { createLedgerStore } from "../../lib/config/store/ledger-store.ts";
import { createMemoryStore } from "../../lib/config/store/memory-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { time, withRatio, yardstick } from "./yardstick.ts";

const generator = new URL("../../../shared/bench/mesh-gen.mjs", import.meta.url);

/** The synthetic mesh of so many services: JSON documents between markers. */
function meshText(services: number): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    execFileSync(process.execPath, [fileURLToPath(generator), "--services", String(services), "--out", folder]);
    return readFileSync(join(folder, "input.yaml"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

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

async function ledgerUpdate(size: number): Promise<string> {
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
  const { medianMs } = await time(() => ledger.write([change(7, text(next++))], info), 50, 5);
  const writes = next - size;
  const objects = (count.objects - before.objects) / writes;
  const bytes = (count.bytes - before.bytes) / writes;
  return `${objects.toFixed(1)} objects, ${bytes.toFixed(0)} bytes, ${medianMs.toFixed(2)} ms`;
}

async function storeMemory(configs: readonly Config[]): Promise<void> {
  const store = createMemoryStore();
  for (const config of configs) await store.create(config);
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

export async function configBench(print: (line: string) => void = console.log): Promise<void> {
  const yard = await yardstick();
  const json = meshText(1000);
  const sorted = read(json);
  const objects = sorted.configs.length + sorted.objects.length;
  const yaml = sorted.objects.map(({ origin: _, ...object }) => dump(object)).join("---\n");
  print(`${objects} objects, ${(json.length / 1e6).toFixed(1)} MB of JSON documents; Istio decodes them in 400 ms`);
  const line = async (what: string, run: () => unknown) =>
    print(`  ${what}: ${withRatio((await time(run)).medianMs, yard)}`);
  await line("parse", () => parseStream(json, { file: "input.yaml" }));
  await line("parse and validate", () => read(json));
  await line(`parse ${(yaml.length / 1e6).toFixed(1)} MB of block YAML`, () =>
    parseStream(yaml, { file: "input.yaml" }),
  );
  await line(`store its ${sorted.configs.length} configs in memory`, () => storeMemory(sorted.configs));
  await line(`store its ${sorted.configs.length} configs in a ledger`, () => storeLedger(sorted.configs));
  await line("read, validate and store all of it in a ledger", () => readAndStore(json));
  for (const size of [100, 1000, 10_000])
    print(`  one update in a ledger of ${size} objects: ${await ledgerUpdate(size)}`);
}

if (import.meta.main) await configBench();
