/**
 * `npm run test:soak -- [--minutes N] [--seed N] [FILE…]`: the long random tests, and every property at its full count, one file after
 * the other in an order that follows the seed, again and again with the next seed until the time is up. Whatever fails ends it with exit
 * code 1 and the command that does the same again; what is under way when the time is up is stopped, and is no failure.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createDice, shuffled } from "./fuzz/objects/dice.ts";

const root = new URL("..", import.meta.url).pathname;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
  },
});
const minutes = Number(values.minutes);
const firstSeed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(firstSeed)) {
  console.error("test:soak: --minutes must be a number above 0, and --seed a whole number");
  process.exit(2);
}

/** The files of the tier, and those that try less elsewhere. */
function soakFiles(): readonly string[] {
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  return tests
    .filter(
      (name) =>
        name.endsWith(".soak.test.ts") ||
        /\b(?:property|soak)Runs\(/.test(readFileSync(join(root, "test", name), "utf8")),
    )
    .map((name) => join("test", name))
    .sort();
}

/** @returns the exit code of Vitest; undefined where the time was up before it ended */
async function ran(file: string, seed: number, leftMs: number): Promise<number | undefined> {
  const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "--bail", "1", file], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, SOAK_SEED: String(seed) },
    detached: true,
  });
  let isTimeUp = false;
  const end = () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  // It has a group of its own, so that its workers end with it, and a terminal's Ctrl-C does not reach it.
  const interrupt = () => {
    end();
    process.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const timer = setTimeout(() => {
    isTimeUp = true;
    end();
  }, leftMs);
  const code = await new Promise<number>((resolve) => child.once("exit", (status) => resolve(status ?? 1)));
  clearTimeout(timer);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
  return isTimeUp ? undefined : code;
}

const endMs = performance.now() + minutes * 60_000;
const files = positionals.length > 0 ? positionals : soakFiles();
console.log(`soak: ${files.length} files for ${minutes} minutes, seed ${firstSeed}`);
let done = 0;
for (let seed = firstSeed; performance.now() < endMs; seed += 1) {
  for (const file of shuffled(createDice(seed), files)) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) break;
    const code = await ran(file, seed, leftMs);
    if (code === undefined) {
      console.log(`soak: the time was up during ${file}`);
      break;
    }
    if (code !== 0) {
      console.error(`soak: ${file} failed. Again: npm run test:soak -- --seed ${seed} ${file}`);
      process.exit(1);
    }
    done += 1;
  }
}
console.log(`soak: ${done} files passed, no failure; the first seed was ${firstSeed}`);
