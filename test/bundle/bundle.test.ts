import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What each function may weigh, minified, in KiB: a ceiling that somebody has to raise on purpose. */
const ceilings = [
  { entry: "front.worker.ts", runtime: "workerd", maxKiB: 100 },
  { entry: "front-connect.worker.ts", runtime: "workerd", maxKiB: 275 },
  { entry: "compile.worker.ts", runtime: "workerd", maxKiB: 3_000 },
  { entry: "front.lambda.ts", runtime: "node", maxKiB: 700 },
  { entry: "compile.lambda.ts", runtime: "node", maxKiB: 4_000 },
  { entry: "server.node.ts", runtime: "node", maxKiB: 1_200 },
] as const;

async function bundle(entry: string, runtime: "workerd" | "node") {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL(`../../functions/${entry}`, import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    logLevel: "silent",
    external: ["node:*"],
    mainFields: ["module", "main"],
    ...(runtime === "workerd"
      ? { platform: "neutral" as const, conditions: ["workerd", "worker", "browser"] }
      : { platform: "node" as const, target: "node22" }),
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  return { bytes, inputs: Object.keys(metafile.inputs) };
}

describe.each(ceilings)("functions/$entry", ({ entry, runtime, maxKiB }) => {
  it(`weighs at most ${maxKiB} KiB`, async () => {
    const { bytes, inputs } = await bundle(entry, runtime);
    const kib = Math.ceil(bytes.length / 1024);
    console.log(`${entry}: ${kib} KiB minified, ${Math.ceil(gzipSync(bytes).length / 1024)} KiB gzip`);
    expect(kib).toBeLessThanOrEqual(maxKiB);
    if (!entry.startsWith("front")) return;
    expect(inputs.filter((input) => /^lib\/(config\/(?!diagnostic)|registry|mesh|xds|v1|compile)/.test(input))).toEqual(
      [],
    );
  });
});
