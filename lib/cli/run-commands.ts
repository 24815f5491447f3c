import { Command, CommanderError, Help, InvalidArgumentError } from "commander";
import { PortolanError } from "../config/diagnostic.ts";
import { version } from "../config/version.ts";
import { printDiagnostics, type Register, type Terminal, withoutColourOptions } from "./terminal.ts";

/** Exit codes of every command; `docs/cli.md` lists them for users. */
const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** A program of some commands, in the order of its help. */
export function programOf(commands: readonly Register[], terminal: Terminal): Command {
  const program = new Command("portolan")
    .description(
      "Compiles Istio's configuration once per change into immutable xDS snapshots, and serves them to Envoy.",
    )
    .version(version, "-v, --version")
    // Read where the terminal is made; here they are for the help alone.
    .option("--color", "colours, also where nobody looks (the same as FORCE_COLOR=1)")
    .option("--no-color", "none (the same as NO_COLOR=1)")
    .showHelpAfterError("(add --help for the options and examples)")
    .configureOutput({
      writeOut: (text) => terminal.out(text.replace(/\n$/, "")),
      writeErr: (text) => terminal.err(text.replace(/\n$/, "")),
    })
    // What an option means without its value, its own words say.
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(/ \(preset: ""\)$/, ""),
    })
    .exitOverride();
  for (const register of commands) register(program, terminal);
  return program;
}

/**
 * Runs one command line of a program.
 *
 * @param argv as `process.argv`
 * @returns the exit code; every failure has been told on the terminal
 */
export async function runCommands(
  commands: readonly Register[],
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    await programOf(commands, terminal).parseAsync([...withoutColourOptions(argv)]);
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
