/** `portolan agent` alone: what runs beside an Envoy. It loads no compiler; docs/agent.md says how to start it. */
import { registerAgent } from "../lib/cli/proxy/agent.ts";
import { runCommands } from "../lib/cli/run-commands.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

const code = await runCommands([registerAgent], process.argv, processTerminal());
// An agent that was stopped after an Envoy that gave up ends as that did.
process.exitCode ||= code;
