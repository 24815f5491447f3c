import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { writtenPublications } from "../../../lib/snapshot/head/lost-head.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { GitHost, githubPush } from "../../compile/webhook/repository/git-host.ts";

const program = new URL("compile-function-process.ts", import.meta.url).pathname;
const service = (name: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\n`;

let scratch = "";
let host: GitHost;
const started: (() => Promise<void>)[] = [];
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), "portolan-promised-"));
  host = await GitHost.start();
});
afterEach(async () => {
  for (const kill of started.splice(0)) await kill();
  await host.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function start(where: string) {
  const repository = `{host: github, repository: shop/mesh, api: "${host.url}"}`;
  const settings = `
compile:
  sources: [slow, busy]
  webhook:
    repositories: {slow: ${repository}, busy: ${repository}}
    githubSecrets: {slow: hub, busy: hub}
`;
  const child = spawn(process.execPath, [program, where, settings], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = () => {
    child.kill("SIGKILL");
    return exit;
  };
  started.push(kill);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the compile function ended with ${code}`)));
  });
  const deliver = async (source: string, sha: string, delivery: string) => {
    const { headers, body } = githubPush("hub", Date.now(), sha, { delivery });
    const response = await fetch(`${url}/hooks/github/${source}`, { method: "POST", headers, body });
    return { status: response.status, reason: JSON.parse(await response.text()).reason };
  };
  return { kill, deliver };
}

describe("a compile function that is killed after it has answered a delivery with 202", () => {
  it("has it carried out by the next process, for a fetch that took long and for one that others had joined", async () => {
    const where = join(scratch, "store");
    const store = fileStore(where);
    const sha = await host.commit({ "a.yaml": service("a") }, "Add a");
    let isHung = true;
    host.instead = (url) => isHung && url.includes("legacy");
    const first = await start(where);
    const slow = first.deliver("slow", sha, "1");
    // One is under way and one waits: whichever comes third is told to wait for that.
    const busy = ["2", "3", "4"].map((delivery) => first.deliver("busy", sha, delivery));
    expect(await Promise.race(busy)).toEqual({ status: 202, reason: expect.stringContaining("waits to be fetched") });
    expect(await slow).toEqual({ status: 202, reason: expect.stringContaining("takes longer") });
    await first.kill();
    expect(await readShard(store, "slow")).toBeUndefined();
    isHung = false;

    await start(where);
    await vi.waitFor(
      async () => {
        for (const source of ["slow", "busy"]) {
          const files = (await readShard(store, source))?.files ?? [];
          expect(files.map(({ text }) => text)).toEqual([service("a")]);
        }
        const said = (await writtenPublications(store)).map(({ by, why }) => `${by}: ${why}`);
        expect(said.join("\n")).toContain(`ada, by a push to shop/mesh: commit ${sha} by Ada: Add a`);
      },
      { timeout: 100_000, interval: 250 },
    );
  }, 120_000);
});
