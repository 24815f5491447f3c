import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { freePort } from "../free-port.ts";
import { commandsOf, startSample } from "./sample.ts";
import { startUpstream } from "./upstream.ts";

const samples = new URL("../../samples", import.meta.url).pathname;
const root = new URL("../..", import.meta.url).pathname;
const names = (await readdir(samples, { withFileTypes: true }))
  .filter((one) => one.isDirectory())
  .map(({ name }) => name);

/** A copy on ports that are free. */
async function copyOf(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-sample-"));
  await cp(join(samples, name), folder, { recursive: true });
  const [port, appPort, innerPort] = [String(await freePort()), String(await freePort()), String(await freePort())];
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.(?:yaml|md)$/.test(file)) continue;
    const path = join(folder, file);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll("10080", port).replaceAll("9080", appPort).replaceAll("9081", innerPort));
  }
  return folder;
}

describe("a sample", () => {
  it.each(names)(
    "answers each of its commands as its page says: %s",
    async (name) => {
      const folder = await copyOf(name);
      const sample = await startSample(folder);
      try {
        const commands = await commandsOf(folder);
        expect(commands).toHaveLength(3);
        for (const command of commands) {
          const [line = "", expected] = command.split(/\s+# /);
          const { stdout } = await promisify(execFile)("bash", ["-c", line], { cwd: root });
          if (expected === undefined) expect(stdout.split("\n").length).toBeGreaterThan(1);
          else expect({ line, says: stdout.trim() }).toEqual({ line, says: expected });
        }
      } finally {
        await sample.close();
        await rm(folder, { recursive: true });
      }
    },
    90_000,
  );

  it("says whose address is taken, and what to do, when one is", async () => {
    const folder = await copyOf("jwt");
    const gateway = await readFile(join(folder, "gateway.yaml"), "utf8");
    const port = Number(/targetPort: (\d+)/.exec(gateway)?.[1]);
    const appPort = Number(/targetPort: (\d+)/.exec(await readFile(join(folder, "orders.yaml"), "utf8"))?.[1]);
    for (const [name, address, at] of [
      ["a server's", "127.0.0.25", appPort],
      ["an Envoy's", "0.0.0.0", port],
    ] as const) {
      const other = await startUpstream("another", at, address);
      const told = await startSample(folder).then(
        (sample) => sample.close(),
        (cause: unknown) => String(cause),
      );
      await other.close();
      expect({ name, told }).toEqual({ name, told: expect.stringContaining(`${address}:${at} is taken`) });
    }
    await rm(folder, { recursive: true });
  }, 90_000);
});
