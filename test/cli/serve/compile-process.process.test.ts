import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CompileProcess, createCompileProcess } from "../../../lib/cli/serve/compile-process.ts";
import { createIsolatedCompile } from "../../../lib/compile/isolation/isolated-compile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { noObserver } from "../../../lib/compile/telemetry/observer.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { openStore } from "../../../lib/storage/open-store.ts";

const patience = 180_000;
const times = <T>(count: number, of: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => of(at));

const shop = (address: string) => ({
  file: "shop.yaml",
  text: `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {security.istio.io/tlsMode: istio}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: ${address}}
`,
});

/** Within the limits of one object, and more than a small heap holds. */
const large = {
  file: "large.yaml",
  text: JSON.stringify({
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "large", namespace: "evil" },
    spec: {
      hosts: times(256, (at) => `e${at}.example`),
      ports: times(64, (at) => ({ number: 1_000 + at, name: `http${at}`, protocol: "HTTP" })),
      endpoints: times(16, (at) => ({ address: `10.0.0.${at}` })),
      resolution: "STATIC",
    },
  }),
};

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
