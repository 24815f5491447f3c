import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { large, shop } from "../../compile/large-object.ts";
import { program } from "../../programs.ts";

const cli = await program("cli");
const patience = 90_000;

let folder = "";
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-dev-memory-"));
});
afterEach(async () => {
  if (child?.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
  await rm(folder, { recursive: true, force: true });
});

interface Event {
  readonly event: string;
  readonly url?: string;
  readonly generation?: number;
  readonly diagnostics?: readonly { readonly code: string; readonly message: string }[];
}

/** More than a heap of 224 MB holds, though each object is within its limits. */
const bomb = {
  file: "bomb.yaml",
  text: Array.from({ length: 8 }, (_, at) =>
    large.text.replaceAll("evil", `evil${at}`).replaceAll(".example", `${at}.example`),
  ).join("\n---\n"),
};

const save = ({ file, text }: { readonly file: string; readonly text: string }) =>
  writeFile(join(folder, "mesh", file), text);

/** `portolan dev` on the folder, with a heap that a large object does not fit into. */
function startDev() {
  const args = ["dev", join(folder, "mesh"), "--port", "0", "--json", "--store", join(folder, "store")];
  const started = spawn(process.execPath, [cli, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "--max-old-space-size=224" },
  });
  child = started;
  const events: Event[] = [];
  const errors: string[] = [];
  let heard = () => {};
  createInterface(started.stdout).on("line", (line) => {
    events.push(JSON.parse(line));
    heard();
  });
  createInterface(started.stderr).on("line", (line) => errors.push(line));
  started.once("exit", () => heard());
  return {
    errors,
    ended: () => started.exitCode ?? started.signalCode,
    /** The next event that is such a one; rejects where the process ends before. */
    async next(isWanted: (event: Event) => boolean): Promise<Event> {
      for (;;) {
        const at = events.findIndex(isWanted);
        const [found] = at < 0 ? [] : events.splice(0, at + 1).slice(-1);
        if (found !== undefined) return found;
        if (started.exitCode !== null || started.signalCode !== null)
          throw new Error(`portolan dev ended: ${errors.join("\n")}`);
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    },
  };
}

const held = (event: Event): boolean => event.diagnostics?.some(({ code }) => code === "source-held") === true;

describe("portolan dev, on a folder whose newest change ends the compile out of memory", () => {
  it(
    "goes on serving, names the file, and publishes what comes when it is gone",
    async () => {
      await mkdir(join(folder, "mesh"));
      await save(shop("10.0.0.1"));
      const dev = startDev();
      expect(await dev.next(({ event }) => event === "published")).toMatchObject({ generation: 1 });
      const { url } = await dev.next(({ event }) => event === "serving");
      await save(bomb);
      const told = await dev.next(held);
      expect(told).toMatchObject({ event: "unchanged", generation: 1 });
      expect(told.diagnostics?.map(({ message }) => message)).toEqual([
        expect.stringMatching(/of source main ended the compile process .*; changed since: bomb\.yaml$/),
      ]);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      await rm(join(folder, "mesh", bomb.file));
      await save(shop("10.0.0.2"));
      expect(await dev.next(({ generation }) => generation === 2)).toMatchObject({ event: "published" });
      expect(dev.ended()).toBeNull();
    },
    patience,
  );

  it(
    "ends with the reason where nothing was ever published",
    async () => {
      await mkdir(join(folder, "mesh"));
      await save(shop("10.0.0.1"));
      await save(bomb);
      const dev = startDev();
      await expect(dev.next(({ event }) => event === "serving")).rejects.toThrow(
        /compiling version .* of source main ended the compile process[\s\S]*nothing is published without it/,
      );
      expect(dev.ended()).toBe(1);
    },
    patience,
  );
});
