import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { digestOf, tarLayer } from "../registry.ts";

const source = new URL("../../../lib/resolve/modules/unpack-layer.ts", import.meta.url).pathname;

/** Unpacks the layer that it is sent. */
const worker = `import { unpackLayer } from ${JSON.stringify(source)};
export default {
  async fetch(request) {
    try {
      return new Response(await unpackLayer(new Uint8Array(await request.arrayBuffer()), "the layer", 16 * 1024 * 1024));
    } catch (cause) {
      return new Response(cause.message, { status: 422 });
    }
  },
};
`;

let directory = "";
let harness: ReturnType<typeof createTestHarness>;
let url = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-unpack-"));
  const configPath = join(directory, "wrangler.json");
  await writeFile(join(directory, "worker.mjs"), worker);
  const settings = { compatibility_date: "2026-07-01", compatibility_flags: ["nodejs_compat"] };
  await writeFile(configPath, JSON.stringify({ name: "unpack", main: "worker.mjs", ...settings }));
  harness = createTestHarness({ workers: [{ configPath }] });
  url = (await harness.listen()).url.origin;
}, 120_000);
afterAll(async () => {
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

const unpacked = async (bytes: Uint8Array<ArrayBuffer>) => fetch(url, { method: "POST", body: bytes });

it("unpacks the module of a layer in workerd, within its bound", async () => {
  const module = new Uint8Array(12 * 1024 * 1024).map((_, at) => (at * 2_654_435_761) >>> 13);
  for (const isCompressed of [true, false]) {
    const { bytes } = await tarLayer("plugin.wasm", module, isCompressed);
    const answer = await unpacked(bytes);
    expect([answer.status, digestOf(new Uint8Array(await answer.arrayBuffer()))]).toEqual([200, digestOf(module)]);
  }
  const bomb = await unpacked((await tarLayer("plugin.wasm", new Uint8Array(64 * 1024 * 1024))).bytes);
  expect([bomb.status, await bomb.text()]).toEqual([422, "the layer, unpacked, has more than 32 MiB"]);
  const { bytes } = await tarLayer("plugin.wasm", module);
  const half = await unpacked(bytes.slice(0, bytes.length / 2));
  expect([half.status, await half.text()]).toEqual([422, "the layer is no tar that could be unpacked"]);
}, 120_000);
