import { Command, CommanderError, InvalidArgumentError } from "commander";
import { PortolanError } from "../config/diagnostic.ts";
import { registerBootstrap } from "./bootstrap.ts";
import { registerBootstrapV1 } from "./bootstrap-v1.ts";
import { registerCollect } from "./collect/commands.ts";
import { registerAnalyze } from "./config-analyze.ts";
import { registerDelete } from "./config-delete.ts";
import { registerDescribe } from "./config-describe.ts";
import { registerGet } from "./config-get.ts";
import { registerValidate } from "./config-validate.ts";
import { registerApply, registerCreate, registerReplace } from "./config-write.ts";
import { registerDev } from "./dev.ts";
import { registerHistory } from "./history.ts";
import { registerKeys } from "./keys.ts";
import { registerSecret } from "./secret.ts";
import { registerSnapshots } from "./snapshots/commands.ts";
import { printDiagnostics, type Register, type Terminal } from "./terminal.ts";
import { registerToken } from "./token.ts";

/** Exit codes of every command; `docs/cli.md` lists them for users. */
const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** In the order of the help. */
const commands: readonly Register[] = [
  registerDev,
  registerCollect,
  registerBootstrap,
  registerBootstrapV1,
  registerValidate,
  registerAnalyze,
  registerApply,
  registerCreate,
  registerReplace,
  registerGet,
  registerDescribe,
  registerDelete,
  registerHistory,
  registerSnapshots,
  registerToken,
  registerKeys,
  registerSecret,
];

/** Every command, with its options. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("portolan")
    .description(
      "Compiles Istio's configuration once per change into immutable xDS snapshots, and serves them to Envoy.",
    )
    .version("0.1.0", "-v, --version")
    .showHelpAfterError("(add --help for the options and examples)")
    .configureOutput({
      writeOut: (text) => terminal.out(text.replace(/\n$/, "")),
      writeErr: (text) => terminal.err(text.replace(/\n$/, "")),
    })
    .exitOverride();
  for (const register of commands) register(program, terminal);
  return program;
}

/**
 * Runs one command line.
 *
 * @param argv as `process.argv`
 * @returns the exit code; every failure has been told on the terminal
 */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync([...argv]);
    return exitCodes.ok;
  } catch (error) {
    // Of an action's own; what commander finds itself, it has told.
    if (error instanceof InvalidArgumentError) {
      terminal.err(`${terminal.colours.red("portolan:")} ${error.message}`);
      return exitCodes.usage;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof PortolanError)) throw error;
    printDiagnostics(terminal, error.diagnostics);
    terminal.err(`${terminal.colours.red("portolan:")} ${error.message}`);
    return exitCodes.failed;
  }
}
