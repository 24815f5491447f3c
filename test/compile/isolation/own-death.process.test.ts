import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { large, shop } from "../large-object.ts";

const script = new URL("../webhook/compile-process.ts", import.meta.url).pathname;
const secret = "s3cret";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-own-death-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A compile function in a process with a small heap, as a Lambda function is one, asked to compile once. @returns its answer, or how it ended */
async function compileOnce(): Promise<unknown> {
  const child = spawn(process.execPath, ["--max-old-space-size=128", script, folder, secret], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<string>((resolve) => child.once("exit", () => resolve("ended")));
  const answer = async () => {
    const url = await new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve));
    const request = { method: "POST", target: "/hooks/recompile", body: new Uint8Array() };
    const headers = await signRequest(secret, request, crypto.randomUUID(), Date.now());
    const response = await fetch(url + request.target, { method: "POST", headers });
    return response.json();
  };
  const answered = await Promise.race([answer().catch(() => ended), ended]);
  child.kill("SIGKILL");
  await ended;
  return answered;
}

describe("a compile function without a process to spare", () => {
  it("runs out of memory twice, and then publishes what other sources bring, and says so", async () => {
    const store = fileStore(folder);
    await writeShard(store, "main", [shop("10.0.0.1")]);
    expect(await compileOnce()).toMatchObject({ kind: "published", generation: 1 });
    await writeShard(store, "b", [large]);
    expect([await compileOnce(), await compileOnce()]).toEqual(["ended", "ended"]);
    const held = expect.objectContaining({
      code: "source-held",
      message: expect.stringMatching(/^compiling version [0-9a-f]{12} of source b ended .*; the source is left out$/),
    });
    expect(await compileOnce()).toMatchObject({ kind: "unchanged", diagnostics: [held] });
    await writeShard(store, "main", [shop("10.0.0.2")]);
    expect(await compileOnce()).toMatchObject({ kind: "published", generation: 2, diagnostics: [held] });
    const read = await readHead(store);
    if (read === undefined) throw new Error("nothing was published");
    const { root } = await createSnapshotReader(store).root(newestRoot(read.head));
    expect(root.sources.map(({ name }) => name)).toEqual(["main"]);
    expect((await readShard(store, "main"))?.files).toHaveLength(1);
  }, 180_000);
});
