import { type Argument, type Command, Help, type Option } from "commander";

/**
 * The page of all commands, from the program itself.
 *
 * @returns Markdown: a heading for each command that does something, with its options and the examples of its help
 */
export function commandReference(program: Command): string {
  const parts = leaves(program, "").map(([words, command]) => sectionOf(words, command));
  return `# Every command

Made from the program by \`npm run reference\`; a test compares the two. [Commands by theme](../cli.md) has exit codes, too.
\`portolan COMMAND --help\` prints the same.

${parts.join("\n")}`;
}

type Named = readonly [words: string, command: Command];

/** Commands that do something, \`token create\` among them. */
function leaves(command: Command, words: string): readonly Named[] {
  return command.commands.flatMap((child): readonly Named[] => {
    const named = `${words} ${child.name()}`.trim();
    return child.commands.length === 0 ? [[named, child]] : leaves(child, named);
  });
}

function sectionOf(words: string, command: Command): string {
  const help = new Help();
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const rows = [
    ...command.registeredArguments.map((one) => `| \`${termOf(one)}\` | ${cell(help.argumentDescription(one))} |`),
    ...options.map((one) => `| \`${one.flags.replaceAll("|", "\\|")}\` | ${cell(optionText(help, one))} |`),
  ];
  const table = rows.length === 0 ? "" : `\n| argument or option | |\n| --- | --- |\n${rows.join("\n")}\n`;
  const examples = examplesOf(command).map((line) => `- \`${line}\`\n`);
  return `## portolan ${words}

${inText(command.description())}
${table}
${examples.length === 1 ? "Example" : "Examples"}:

${examples.join("")}`;
}

const termOf = (argument: Argument): string => {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
};

/** As in the help; what an option means without its value, its own words say. */
const optionText = (help: Help, option: Option): string =>
  help.optionDescription(option).replace(/ \(preset: ""\)$/, "");

const cell = (text: string): string => inText(text).replaceAll("|", "\\|");

/** Text of the help, which knows no marks, but for code between backticks. */
const inText = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((piece, index) => (index % 2 === 1 ? piece : piece.replaceAll("\n", " ").replace(/[<*_]/g, "\\$&")))
    .join("");

/** What the command's help ends with. */
function examplesOf(command: Command): readonly string[] {
  let text = "";
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
  });
  command.outputHelp();
  const [, examples = ""] = text.split(/\nExamples?:\n/);
  return examples
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
