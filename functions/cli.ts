#!/usr/bin/env node
const [word, ...more] = process.argv.slice(2);

// Each loads what it needs: an agent runs as long as its Envoy, and the version is what scripts ask for first.
if (word === "agent") {
  await import("./agent.node.ts");
} else if (more.length === 0 && (word === "-v" || word === "--version")) {
  console.log((await import("../lib/config/values/version.ts")).version);
} else {
  const { processProgress } = await import("../lib/cli/progress.ts");
  const { processTerminal } = await import("../lib/cli/terminal.ts");
  const { runCli } = await import("../lib/cli/program.ts");
  const progress = processProgress(process.argv, process.env, process.stderr.isTTY);
  process.exitCode = await runCli(process.argv, processTerminal({ progress }));
  progress.end();
}
