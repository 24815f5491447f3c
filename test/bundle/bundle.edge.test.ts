import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What each function may weigh, minified, in KiB: some 10 % above what it weighed when this was set. */
const ceilings = [
  { entry: "front.worker.ts", runtime: "workerd", maxKiB: 210 },
  { entry: "front-connect.worker.ts", runtime: "workerd", maxKiB: 390 },
  // With the X.509 library, 235 KiB.
  { entry: "front-certificates.worker.ts", runtime: "workerd", maxKiB: 660 },
  { entry: "compile.worker.ts", runtime: "workerd", maxKiB: 3_000 },
  { entry: "collect.worker.ts", runtime: "workerd", maxKiB: 1_610 },
  { entry: "front.library.ts", runtime: "workerd", maxKiB: 200 },
  { entry: "front.lambda.ts", runtime: "node", maxKiB: 1_570 },
  { entry: "compile.lambda.ts", runtime: "node", maxKiB: 4_000 },
  { entry: "compile-slice.lambda.ts", runtime: "node", maxKiB: 2_900 },
  { entry: "collect-garbage.lambda.ts", runtime: "node", maxKiB: 2_120 },
  // With the compiler, which a rollback loads, and the clients of Google's and Azure's clouds, which their stores do.
  { entry: "server.node.ts", runtime: "node", maxKiB: 5_600 },
] as const;

interface Bundle {
  readonly bytes: Uint8Array;
  /** Files that it is made of, */
  readonly inputs: readonly string[];
  /** and those of them that are loaded when it starts. */
  readonly atOnce: readonly string[];
}

/** As wrangler, and `infra/build.mjs`, bundle it; all pieces in one. */
async function bundle(entry: string, runtime: "workerd" | "node"): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL(`../../functions/${entry}`, import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: "dist",
    format: "esm",
    logLevel: "silent",
    external: ["node:*"],
    mainFields: ["module", "main"],
    ...(runtime === "workerd"
      ? { platform: "neutral" as const, conditions: ["workerd", "worker", "browser"] }
      : { platform: "node" as const, target: "node22", splitting: true }),
  });
  const pieces = metafile.outputs;
  const first = Object.keys(pieces).filter((path) => pieces[path]?.entryPoint?.endsWith(entry));
  const loaded = new Set(first);
  // What is added is walked too.
  for (const path of loaded) {
    for (const { kind, path: next } of pieces[path]?.imports ?? []) {
      if (kind === "import-statement" && next in pieces) loaded.add(next);
    }
  }
  return {
    bytes: Buffer.concat(outputFiles.map(({ contents }) => contents)),
    inputs: Object.keys(metafile.inputs),
    atOnce: [...loaded].flatMap((path) => Object.keys(pieces[path]?.inputs ?? {})),
  };
}

/** 222 KiB, only where modules can be loaded later. */
const tracer = /lib\/front\/tracing\/tracer\.ts$/;
const kms = /@aws-sdk\/client-kms/;
/** A third of the server, and nothing that a function on Workers or Lambda has. */
const clouds = /node_modules\/(?:@azure|@typespec|apache-arrow|google-auth-library)\/|storage\/(?:gcs|azure)\.ts$/;
/** The SDK: its API, which prom-client reads, is small. */
const tracing = /@opentelemetry\/(?!api\/)/;
/** 170 KiB, which a function on Lambda loads for the first such call. */
const calls = /lib\/front\/connect\/mount\.ts$/;
/** 235 KiB, for those that sign certificates; on Lambda and a server for the first one alone. */
const x509 = /node_modules\/@peculiar\//;
/** What the edge does without. */
const onlyNode = /node_modules\/(?:@opentelemetry|prom-client|pino)\//;

describe.each(ceilings)("functions/$entry", ({ entry, runtime, maxKiB }) => {
  it(`weighs at most ${maxKiB} KiB`, async () => {
    const { bytes, inputs, atOnce } = await bundle(entry, runtime);
    const kib = Math.ceil(bytes.length / 1024);
    console.log(`${entry}: ${kib} KiB minified, ${Math.ceil(gzipSync(bytes).length / 1024)} KiB gzip`);
    expect(kib).toBeLessThanOrEqual(maxKiB);
    expect(atOnce.length).toBeGreaterThan(10);
    expect(atOnce.filter((input) => kms.test(input) || tracing.test(input) || clouds.test(input))).toEqual([]);
    expect(inputs.some((input) => clouds.test(input))).toBe(entry === "server.node.ts");
    if (runtime === "workerd") expect(inputs.filter((input) => onlyNode.test(input))).toEqual([]);
    expect(atOnce.some((input) => x509.test(input))).toBe(entry === "front-certificates.worker.ts");
    const followsRequests = entry === "front.lambda.ts" || entry === "server.node.ts";
    expect(inputs.some((input) => tracer.test(input))).toBe(followsRequests);
    expect(atOnce.some((input) => tracer.test(input))).toBe(false);
    const servesKms = entry === "front.lambda.ts" || entry === "server.node.ts";
    expect(inputs.some((input) => kms.test(input))).toBe(servesKms);
    if (entry === "front.lambda.ts")
      expect([inputs, atOnce].map((files) => files.some((input) => calls.test(input)))).toEqual([true, false]);
    if (!entry.startsWith("front")) return;
    expect(
      inputs.filter((input) =>
        /^lib\/(config\/(?!answer-text|cause-text|diagnostic|loopback|oidc-discovery|path-text|setting-values|unreachable-keys|untyped)|incremental\/(?!list-delta|same-elements)|registry|mesh|xds|v1|compile)/.test(
          input,
        ),
      ),
    ).toEqual([]);
  }, 120_000);
});
