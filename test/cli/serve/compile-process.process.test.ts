import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CompileProcess, createCompileProcess } from "../../../lib/cli/serve/compile-process.ts";
import { createIsolatedCompile } from "../../../lib/compile/isolation/isolated-compile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { noObserver } from "../../../lib/compile/telemetry/observer.ts";
import { readAnalysis } from "../../../lib/snapshot/analysis-record.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { openStore } from "../../../lib/storage/open-store.ts";
import { large, shop } from "../../compile/large-object.ts";

const patience = 180_000;
let folder: string;
let compiling: CompileProcess;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-compile-process-"));
  vi.stubEnv("NODE_OPTIONS", "--max-old-space-size=128");
  compiling = createCompileProcess({
    where: folder,
    sources: ["main"],
    env: {},
    observer: noObserver,
    onTrouble: () => {},
  });
});

afterEach(() => {
  compiling.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("the compile process", () => {
  it(
    "runs out of memory without costing what started it anything, and what other sources bring is published",
    async () => {
      const store = await openStore(folder, {});
      const compile = createIsolatedCompile({
        store,
        primary: "main",
        attempt: compiling.attempt,
        now: Date.now,
        onWaiting: () => {},
      });
      const ask = () => compile(undefined, async () => {});
      await writeShard(store, "main", [shop("10.0.0.1")]);
      expect(await ask()).toMatchObject({ kind: "published", generation: 1 });
      await writeShard(store, "b", [large]);
      const held = expect.objectContaining({
        code: "source-held",
        message: expect.stringMatching(
          /^compiling version [0-9a-f]{12} of source b ended the compile process \(most likely out of memory\); the source is left out$/,
        ),
      });
      expect(await ask()).toMatchObject({ kind: "unchanged", diagnostics: [held] });
      await writeShard(store, "main", [shop("10.0.0.2")]);
      expect(await ask()).toMatchObject({ kind: "published", generation: 2, diagnostics: [held] });
    },
    patience,
  );

  it(
    "is ended when it takes too long, and another one compiles",
    async () => {
      const store = await openStore(folder, {});
      await writeShard(store, "main", [shop("10.0.0.1")]);
      const attempt = { publishing: undefined, held: new Map() };
      const late = new AbortController();
      // It asks whether it may publish, and is never answered.
      const hanging = compiling.attempt({
        ...attempt,
        signal: late.signal,
        mayPublish: () => {
          late.abort();
          return new Promise(() => {});
        },
      });
      expect(await hanging).toEqual({ kind: "ended", reason: "it took too long" });
      expect(await readHead(store)).toBeUndefined();
      const { signal } = new AbortController();
      const outcome = await compiling.attempt({ ...attempt, signal, mayPublish: async () => {} });
      expect(outcome).toMatchObject({ kind: "compiled", told: { kind: "published", generation: 1 } });
    },
    patience,
  );

  it(
    "records the messages of the analysers once it has answered",
    async () => {
      const store = await openStore(folder, {});
      const text =
        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: a }\nspec: { host: gone }\n";
      await writeShard(store, "main", [{ file: "rule.yaml", text }]);
      const { signal } = new AbortController();
      const mayPublish = async () => {};
      const outcome = await compiling.attempt({ publishing: undefined, held: new Map(), signal, mayPublish });
      const root = outcome.kind === "compiled" ? outcome.told.version : "";
      const recorded = { kind: "analyzed", messages: [{ code: "IST0174" }] };
      await vi.waitFor(async () => expect(await readAnalysis(store, root)).toMatchObject(recorded), 50_000);
    },
    patience,
  );

  it(
    "hands on why a compile failed, and compiles the next one",
    async () => {
      const store = await openStore(folder, {});
      const attempt = { publishing: undefined, held: new Map(), signal: new AbortController().signal };
      const mayPublish = async () => {};
      await expect(compiling.attempt({ ...attempt, mayPublish })).rejects.toThrow("no source was filled yet");
      await writeShard(store, "main", [shop("10.0.0.1")]);
      const refuse = () => Promise.reject(new Error("somebody else has the lease"));
      await expect(compiling.attempt({ ...attempt, mayPublish: refuse })).rejects.toThrow(
        "somebody else has the lease",
      );
      expect(await compiling.attempt({ ...attempt, mayPublish })).toMatchObject({ kind: "compiled" });
    },
    patience,
  );
});
