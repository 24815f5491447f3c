import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";

const root = new URL("../..", import.meta.url).pathname;
/** Calls of an address in a minute. */
const limit = 5;
let directory: string;
let harness: TestHarness;

/** A Worker's own settings, with a limit that is soon reached. */
async function limited(file: string): Promise<string> {
  const text = await readFile(join(root, file), "utf8");
  const path = join(directory, file);
  await writeFile(
    path,
    text
      .replace(/^(main|directory) = "(.*)"$/gm, `$1 = "${root}$2"`)
      .replace(/limit = \d+, period = 60/, `limit = ${limit}, period = 60`),
  );
  return path;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "portolan-rate-"));
  harness = createTestHarness({
    workers: [
      { configPath: await limited("wrangler.toml"), vars: { AUTHENTICATION: "off" } },
      { configPath: await limited("wrangler.compile.toml") },
    ],
  });
  await harness.listen();
}, 120_000);
afterAll(async () => {
  await harness?.close();
  await rm(directory, { recursive: true, force: true });
});

let next = 0;

it.each([
  ["portolan-front", "/v3/head"],
  ["portolan-compile", "/hooks/recompile"],
])(
  "%s turns an address away that asks too often, and no other",
  async (name, path) => {
    const ask = async (address: string) => {
      const headers = { "cf-connecting-ip": address };
      const response = await harness.getWorker(name).fetch(`http://worker${path}`, { headers });
      await response.text();
      return response.status;
    };
    // Calls are counted by the minute of the clock, which shall not end on the way.
    const leftMs = 60_000 - (Date.now() % 60_000);
    if (leftMs < 20_000) await sleep(leftMs);
    // What an earlier try of this test has asked counts against its own address.
    next += 2;
    const statuses: number[] = [];
    for (let i = 0; i < limit + 3; i += 1) statuses.push(await ask(`192.0.2.${next}`));
    expect(statuses.slice(0, limit)).not.toContain(429);
    expect(statuses.slice(limit)).toEqual([429, 429, 429]);
    expect(await ask(`192.0.2.${next + 1}`)).not.toBe(429);
  },
  60_000,
);
