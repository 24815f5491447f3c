/**
 * Does what the pages say, in a copy of the repository with nothing beside it: every block of commands, from the top of README on.
 * `npm run newcomer` runs all, `-- PAGE…` some. What takes minutes to fetch and to generate is lent by this tree, and `npm ci` does
 * nothing, unless `--fresh` is given: CI runs the README's `npm ci && npm test` in a clone of its own.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { freePort } from "../free-port.ts";
import { installPrograms } from "../programs.ts";
import { blocksOf, type CommandBlock, pages } from "./blocks.ts";

const root = resolve(import.meta.dirname, "../..");
/** For one block. */
const patienceMs = 240_000;

const scratch = mkdtempSync(join(tmpdir(), "portolan-newcomer-"));
const clone = join(scratch, "portolan");

const isFresh = process.argv.includes("--fresh");

/** What git knows of this tree, as it is now. */
function copyTree(): void {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  // What takes long to fetch is lent: Envoy, the S3 server.
  mkdirSync(join(clone, ".cache"));
  for (const lent of [".venv", ".cache/bin", ...(isFresh ? [] : ["node_modules", "gen", "infra/node_modules"])]) {
    if (existsSync(join(root, lent))) symlinkSync(join(root, lent), join(clone, lent));
  }
  if (isFresh) return;
  const npm = execFileSync("bash", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  // What is not lent is installed.
  const withoutCi = `#!/bin/sh
[ "$1" = ci ] && exit 0
[ "$*" = "--prefix infra ci" ] && [ -e infra/node_modules ] && exit 0
exec "${npm}" "$@"
`;
  writeFileSync(join(scratch, "bin/npm"), withoutCi, { mode: 0o755 });
}

/**
 * `portolan` by itself is what a global install gives. `npx portolan` finds this clone, which the first one shows; the others go to the same
 * program as it is installed, which takes a third of the time.
 */
async function installPortolan(): Promise<void> {
  const installed = join(scratch, "installed");
  await installPrograms(installed);
  mkdirSync(join(scratch, "bin"));
  const ran = `NODE_COMPILE_CACHE="${scratch}/compiled" exec "${process.execPath}" "${installed}/dist/package/cli.js" "$@"`;
  writeFileSync(join(scratch, "bin/portolan"), `#!/bin/sh\n${ran}\n`, { mode: 0o755 });
  const npx = execFileSync("bash", ["-c", "command -v npx"], { encoding: "utf8" }).trim();
  const found = join(scratch, "npx-found-it");
  const withoutNpm = `#!/bin/sh
[ "$1" = portolan ] && [ -e "${found}" ] && shift && ${ran}
[ "$1" = portolan ] && touch "${found}"
exec "${npx}" "$@"
`;
  writeFileSync(join(scratch, "bin/npx"), withoutNpm, { mode: 0o755 });
}

/** @returns what went wrong; undefined for nothing */
async function problemOf({ text, mark }: CommandBlock): Promise<string | undefined> {
  if (mark.kind !== "beside") return ran(text, mark.kind === "until" ? mark.text : undefined);
  // The other command is up when it says how to stop it; the block is done while it runs. What the one before said is gone by then.
  const script = `rm -f beside.log; touch beside.log
    ${mark.command} > beside.log 2>&1 & other=$!
    for i in $(seq 600); do grep -q -e Ctrl-C -e '^serving' -e 'Ready on' beside.log && break; sleep 0.1; done
    (${text}\n) || code=$?
    kill $other || true; wait $other || true; [ -z "\${code-}" ] || cat beside.log; exit "\${code-0}"`;
  return ran(script, undefined);
}

/** @param until what it has to print before it is stopped; undefined: it ends by itself */
async function ran(text: string, until: string | undefined): Promise<string | undefined> {
  const env = {
    ...process.env,
    PATH: [join(scratch, "bin"), process.env.PATH].join(delimiter),
    PORT: String(await freePort()),
  };
  const child = spawn("bash", ["-euo", "pipefail", "-c", text], {
    cwd: clone,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const end = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended by itself.
    }
  };
  let told = "";
  let isDone = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      told = (told + data).slice(-100_000);
      if (until === undefined || isDone || !told.includes(until)) return;
      isDone = true;
      end("SIGTERM");
    });
  }
  const timer = setTimeout(() => end("SIGKILL"), patienceMs);
  const code = await new Promise<number | null>((ended) => child.once("close", ended));
  clearTimeout(timer);
  end("SIGKILL");
  if (until !== undefined) return isDone ? undefined : `never says "${until}"\n${told}`;
  return code === 0 ? undefined : `ends with ${code ?? "a signal"}\n${told}`;
}

await installPortolan();
copyTree();
const named = process.argv.slice(2).filter((word) => word !== "--fresh");
// README first: it says how to begin.
const order = ["README.md", ...pages(root).filter((page) => page !== "README.md")];
const wanted = order.filter((page) => named.length === 0 || named.includes(page));
/** At the end, where a reader of a long log looks. */
const problems: string[] = [];
try {
  if (isFresh && !wanted.includes("README.md"))
    execFileSync("npm", ["ci", "--no-progress"], { cwd: clone, stdio: "inherit" });
  for (const block of wanted.flatMap((page) => blocksOf(root, page))) {
    const name = `${block.page}:${block.line}`;
    if (block.mark.kind === "skip") {
      console.log(`skip  ${name}: ${block.mark.why}`);
      continue;
    }
    const startMs = performance.now();
    const problem = await problemOf(block);
    console.log(
      `${problem === undefined ? "ok  " : "FAIL"}  ${name}  ${((performance.now() - startMs) / 1_000).toFixed(1)} s`,
    );
    if (problem !== undefined) problems.push(`${name}\n${block.text}\n${problem}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.log(`\nFAIL  ${problem}`);
if (problems.length > 0) process.exitCode = 1;
