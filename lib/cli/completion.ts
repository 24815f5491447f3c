import { Argument, type Command, InvalidArgumentError, type Option } from "commander";
import { examplesText } from "./examples.ts";
import type { Terminal } from "./terminal.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** `portolan completion SHELL`: a script that completes every command and option, made from the program itself. */
export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("Prints a script by which a shell completes commands, options and their values.")
    .addArgument(new Argument("<shell>", "which shell").choices([...shells]))
    .option("--json", "what is completed, as JSON")
    .addHelpText(
      "after",
      examplesText([
        "completion bash > /etc/bash_completion.d/portolan",
        "completion zsh > ~/.zfunc/_portolan",
        "completion fish > ~/.config/fish/completions/portolan.fish",
      ]),
    )
    .action((shell: string, { json }: { readonly json?: boolean }) => {
      const words = completionsOf(program);
      if (json === true) return terminal.out(JSON.stringify(Object.fromEntries(words), undefined, 2));
      const found = shells.find((one) => one === shell);
      if (found === undefined) throw new InvalidArgumentError(`no ${shell}`);
      terminal.out(scripts[found](words));
    });
}

/** By the words of a command (`token create`, "" for the program) what may follow; by them and an option its values. */
function completionsOf(command: Command, path = ""): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const under = (name: string) => `${path} ${name}`.trim();
  const options = command.options.filter(({ hidden }) => !hidden);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  found.set(path, [...command.commands.map((one) => one.name()), ...choices, ...options.flatMap(flagsOf), "--help"]);
  for (const option of options)
    for (const flag of flagsOf(option)) if (option.argChoices !== undefined) found.set(under(flag), option.argChoices);
  for (const child of command.commands)
    for (const [key, words] of completionsOf(child, under(child.name()))) found.set(key, words);
  return found;
}

const flagsOf = ({ long, short }: Option): readonly string[] =>
  [long, short].filter((flag) => flag !== undefined && flag !== null);

type Script = (words: ReadonlyMap<string, readonly string[]>) => string;

/** Cases of a shell's `case`: words of commands and flags are letters, digits and dashes. */
const cases = (words: ReadonlyMap<string, readonly string[]>): string =>
  [...words].map(([key, list]) => `    '${key}') words='${list.join(" ")}' ;;`).join("\n");

/** Walks along the words that are typed as long as they are commands; then asks for the last flag's values, else for the command's words. */
const walk = (words: ReadonlyMap<string, readonly string[]>, first: number) => `  local path='' words='' known='' word i
  for ((i = ${first}; i < at; i++)); do
    word="\${typed[i]}"
    known="\${path:+$path }$word"
    case "$known" in
      ${[...words.keys()]
        .filter((key) => key !== "" && !/(^| )-/.test(key))
        .map((key) => `'${key}'`)
        .join("|")}) path="$known" ;;
    esac
  done
  known="\${path:+$path }\${typed[at - 1]}"
  case "$known" in
${cases(new Map([...words].filter(([key]) => /(^| )-/.test(key))))}
  esac
  if [ -z "$words" ]; then
  case "$path" in
${cases(new Map([...words].filter(([key]) => !/(^| )-/.test(key))))}
  esac
  fi`;

const scripts: Readonly<Record<Shell, Script>> = {
  bash: (words) => `# bash completion of portolan; made by \`portolan completion bash\`
_portolan() {
  local at=$COMP_CWORD
  local typed=("\${COMP_WORDS[@]}")
${walk(words, 1)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _portolan portolan`,
  zsh: (words) => `#compdef portolan
# zsh completion of portolan; made by \`portolan completion zsh\`
_portolan() {
  local at=$CURRENT
  local -a typed
  typed=("\${(@)words}")
${walk(words, 2).replaceAll("words=", "follows=").replaceAll("$words", "$follows").replace("path='' follows=''", "path='' follows=''")}
  compadd -- \${=follows}
  _files
}
compdef _portolan portolan`,
  fish: (words) =>
    [
      "# fish completion of portolan; made by `portolan completion fish`",
      ...[...words].flatMap(([key, list]) => {
        if (/(^| )-/.test(key)) return [];
        const parts = key.split(" ").filter((word) => word !== "");
        const seen = parts.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
        const condition = parts.length === 0 ? "__fish_use_subcommand" : seen;
        return list.map((word) => {
          const values = words.get(`${key} ${word}`.trim());
          const what = word.startsWith("--")
            ? `-l ${word.slice(2)}`
            : word.startsWith("-")
              ? `-s ${word.slice(1)}`
              : `-a ${word}`;
          return `complete -c portolan -n '${condition}' ${what}${values === undefined ? "" : ` -x -a '${values.join(" ")}'`}`;
        });
      }),
    ].join("\n"),
};
