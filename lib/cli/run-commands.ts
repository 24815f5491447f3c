import { Command, CommanderError, Help, InvalidArgumentError } from "commander";
import { PortolanError } from "../base/diagnostic.ts";
import { version } from "../config/values/version.ts";
import { groupHelp } from "./help-groups.ts";
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
    .option("--color", "use colours even without a terminal (same as FORCE_COLOR=1)")
    .option("--no-color", "use no colours (same as NO_COLOR=1)")
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
  groupHelp(program);
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
    const program = programOf(commands, terminal);
    await program.parseAsync([...withoutHelpOfUnknown(program, withoutColourOptions(argv))]);
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

const helpWords: ReadonlySet<string> = new Set(["help", "-h", "--help"]);

/**
 * A command line whose command is unknown, without the words that ask for help: commander prints the help of what is above it then, as if
 * the name were right. Without them it refuses the name.
 */
function withoutHelpOfUnknown(program: Command, argv: readonly string[]): readonly string[] {
  const words = argv.slice(2);
  let command = program;
  for (const word of words.slice(0, endOfOptions(words))) {
    if (helpWords.has(word) || word.startsWith("-")) continue;
    if (command.commands.length === 0 || command.registeredArguments.length > 0) break;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) return [...argv.slice(0, 2), ...words.filter((one) => !helpWords.has(one))];
    command = next;
  }
  return argv;
}

/** After `--` no word is an option or a command. */
const endOfOptions = (words: readonly string[]): number => (words.includes("--") ? words.indexOf("--") : words.length);
