/** `portolan collect` alone: what runs near an origin. It loads no compiler unless it is to compile; docs/sources.md says how to start it. */
import { registerCollect } from "../lib/cli/collect/commands.ts";
import { runCommands } from "../lib/cli/run-commands.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

process.exitCode = await runCommands([registerCollect], process.argv, processTerminal());
