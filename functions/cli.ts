#!/usr/bin/env node
import { processProgress } from "../lib/cli/progress.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

// An agent runs as long as its Envoy: it loads what it needs, and not the compiler.
if (process.argv[2] === "agent") {
  await import("./agent.node.ts");
} else {
  const { runCli } = await import("../lib/cli/program.ts");
  const progress = processProgress(process.argv, process.env, process.stderr.isTTY);
  process.exitCode = await runCli(process.argv, processTerminal({ progress }));
  progress.end();
}
