import { createServer } from "node:http";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { consoleLog, errorLog, logObserver } from "../../../lib/compile/telemetry/log.ts";
import { noObserver, observers, stageNames } from "../../../lib/compile/telemetry/observer.ts";
import { spansToCollector } from "../../../lib/compile/telemetry/otlp.ts";
import { prometheusObserver } from "../../../lib/compile/telemetry/prometheus.ts";
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";

/** The lines of a log, as values. */
function lines() {
  const written: Record<string, unknown>[] = [];
  return { written, log: consoleLog((line) => written.push(JSON.parse(line))) };
}

/** Of a compile whose classes are all made by one process. */
const stagesHere = stageNames.filter((name) => name !== "slices" && name !== "join");

describe("the log", () => {
  it("has a line for each compile: what came of it, its stages, memo hits, bytes written, time in the queue", async () => {
    const store = memoryStore();
    const { written, log } = lines();
    await writeShard(store, "main", await weightedShop(10));
    const compile = createLeasedCompiler({ store, observer: logObserver(log), pace: { quietMs: 0 } });
    await compile(undefined, Date.now() - 5000);
    await compile();
    const [first, second] = written;
    expect(first).toMatchObject({
      level: 30,
      kind: "published",
      generation: 1,
      attempts: 1,
      msg: "compiled: published",
    });
    expect(Object.keys(first?.stageMs ?? {})).toEqual(stagesHere);
    expect(first?.bytesWritten).toBeGreaterThan(1000);
    expect(first?.objectsWritten).toBeGreaterThan(5);
    expect(first?.queueMs).toBeGreaterThan(4000);
    expect(second).toMatchObject({ kind: "unchanged", bytesWritten: 0 });
    expect(second?.queueMs).toBeLessThan(4000);
    const hits = (line: Record<string, unknown> | undefined) => JSON.parse(JSON.stringify(line?.memo));
    expect(hits(first).misses).toBeGreaterThan(hits(second).misses);
    expect(hits(second).hits).toBeGreaterThan(0);
  });

  it("has the reason of one that failed, with the first diagnostic", async () => {
    const store = memoryStore();
    const { written, log } = lines();
    await writeShard(store, "main", [{ file: "a.yaml", text: "kind: [" }]);
    await expect(createRecompiler({ store, observer: logObserver(log) })()).rejects.toThrow();
    expect(written).toEqual([
      expect.objectContaining({
        level: 50,
        reason: "the sources hold no configuration that can be read",
        first: expect.objectContaining({ code: "unreadable-document" }),
        msg: "the compile failed; HEAD is as it was",
      }),
    ]);
  });

  it("says once that nobody has filled a source yet, which is no failure", async () => {
    const store = memoryStore();
    const { written, log } = lines();
    const registry = new Registry();
    const compile = createRecompiler({ store, observer: observers([logObserver(log), prometheusObserver(registry)]) });
    for (let i = 0; i < 3; i += 1) await expect(compile()).rejects.toThrow("no source was filled yet");
    expect(written).toEqual([expect.objectContaining({ level: 30, reason: "no source was filled yet" })]);
    const metrics = await registry.metrics();
    expect(metrics).toContain('portolan_compiles_total{result="empty"} 3');
    expect(metrics).toContain('portolan_compiles_total{result="failed"} 0');
    await writeShard(store, "main", await weightedShop(10));
    expect((await compile()).kind).toBe("published");
  });
});

describe("the log of objects that are left out", () => {
  it("has each once for as long as it is left out, with file, line and hint, and counts what is too much", async () => {
    const { written, log } = lines();
    const tell = errorLog(log);
    const store = memoryStore();
    const broken = { file: "web.yaml", text: 'apiVersion: v1\nkind: Service\nmetadata: {name: "-"}\n' };
    await writeShard(store, "main", [...(await weightedShop(10)), broken]);
    const { diagnostics } = await createRecompiler({ store, sources: ["main"], world: defaultWorldOptions })();
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.length).toBeGreaterThan(0);
    tell(diagnostics);
    tell(diagnostics);
    expect(written.map(({ level, origin }) => ({ level, origin }))).toEqual(
      errors.map(({ origin }) => ({ level: 40, origin })),
    );
    tell([]);
    tell(diagnostics);
    expect(written).toHaveLength(2 * errors.length);
    tell(
      errors.flatMap((error) =>
        Array.from({ length: 30 }, (_, line) => ({ ...error, origin: { ...error.origin, line: 100 + line } })),
      ),
    );
    expect(written.at(-1)).toMatchObject({ more: 30 * errors.length - 20 });
  });
});

describe("the metrics", () => {
  it("count compiles by their end, stages, memo, what was written and the queue", async () => {
    const sound = memoryStore();
    let fails = false;
    const store: ObjectStore = {
      ...sound,
      put: (key, bytes, condition) => {
        if (fails) throw new PortolanError("full");
        return sound.put(key, bytes, condition);
      },
    };
    const registry = new Registry();
    const observer = observers([prometheusObserver(registry), noObserver]);
    await writeShard(store, "main", await weightedShop(10));
    const compile = createRecompiler({ store, observer });
    observer.asked(Date.now() - 3000);
    await compile();
    await compile();
    fails = true;
    await writeShard(sound, "main", await weightedShop(11));
    await expect(compile()).rejects.toThrow("full");
    const text = await registry.metrics();
    expect(text).toContain('portolan_compiles_total{result="published"} 1');
    expect(text).toContain('portolan_compiles_total{result="unchanged"} 1');
    expect(text).toContain('portolan_compiles_total{result="failed"} 1');
    for (const stage of stagesHere) expect(text).toContain(`portolan_compile_stage_seconds_count{stage="${stage}"} 2`);
    expect(text).toMatch(/portolan_memo_steps_total\{result="hit"\} [1-9]/);
    expect(text).toMatch(/portolan_written_bytes_total [1-9]/);
    expect(text).toContain('portolan_compile_queue_seconds_bucket{le="2.5"} 2');
    expect(text).toContain('portolan_compile_queue_seconds_bucket{le="5"} 3');
    expect(text).toContain("portolan_generation 1");
    expect(text).toContain('portolan_diagnostics{severity="error"} 0');
  });
});

describe("spans", () => {
  it("go to the collector that OpenTelemetry's variables name, one for each compile and stage", async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on("end", () => {
        bodies.push(`${request.url} ${body}`);
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    // The SDK reads the process's own environment.
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
    try {
      const spans = await spansToCollector({
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_SERVICE_NAME: "mesh-compile",
      });
      const store = memoryStore();
      await writeShard(store, "main", await weightedShop(10));
      await createRecompiler({ store, observer: spans?.observer ?? noObserver })();
      await spans?.flush();
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
      server.close();
    }
    const [sent = ""] = bodies;
    expect(sent.startsWith("/v1/traces ")).toBe(true);
    const { resourceSpans } = JSON.parse(sent.slice("/v1/traces ".length));
    expect(JSON.stringify(resourceSpans[0].resource)).toContain("mesh-compile");
    const all: readonly { name: string; spanId: string; parentSpanId?: string; attributes: object }[] =
      resourceSpans[0].scopeSpans[0].spans;
    const whole = all.find(({ name }) => name === "compile");
    expect(JSON.stringify(whole?.attributes)).toContain("portolan.bytesWritten");
    const stages = all.filter(({ parentSpanId }) => parentSpanId === whole?.spanId).map(({ name }) => name);
    expect(stages.sort()).toEqual(stagesHere.map((name) => `compile ${name}`).sort());
  });

  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SDK_DISABLED: "true" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_TRACES_EXPORTER: "none" },
  ])("are off with %j", async (env) => {
    expect(await spansToCollector(env)).toBeUndefined();
  });
});
