/** What a pod runs before its agent: `portolan bootstrap` and `portolan intercept`, in processes of their own that leave no memory behind. */
import { registerBootstrap } from "../lib/cli/proxy/bootstrap.ts";
import { registerIntercept } from "../lib/cli/proxy/intercept.ts";
import { runCommands } from "../lib/cli/run-commands.ts";
import { processTerminal } from "../lib/cli/terminal.ts";

process.exitCode = await runCommands([registerBootstrap, registerIntercept], process.argv, processTerminal());
