import { Argument, type Command, InvalidArgumentError, type Option } from "commander";
import { examplesText } from "./examples.ts";
import type { Terminal } from "./terminal.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** `portolan completion SHELL`: a script that completes every command and option, made from the program itself. */
export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("Prints the completion script of a shell, for commands, options and values.")
    .addArgument(new Argument("<shell>", "which shell").choices([...shells]))
    .option("--json", "commands, options and values as JSON")
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
  [...words].map(([key, list]) => `    '${key}') follows='${list.join(" ")}' ;;`).join("\n");

/** Paths of commands, and what follows an option of theirs. */
const isOption = (key: string): boolean => /(^| )-/.test(key);
const commandsIn = (words: ReadonlyMap<string, readonly string[]>) => [...words].filter(([key]) => !isOption(key));
const optionsIn = (words: ReadonlyMap<string, readonly string[]>) => [...words].filter(([key]) => isOption(key));
const quotedPaths = (words: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  commandsIn(words).flatMap(([key]) => (key === "" ? [] : [`'${key}'`]));

/**
 * Walks along the words that are typed as long as they are commands; then asks for the last flag's values, else for the command's words.
 * `path` and `words` are names of zsh's own.
 */
const walk = (
  words: ReadonlyMap<string, readonly string[]>,
  first: number,
) => `  local route='' follows='' known='' word i
  for ((i = ${first}; i < at; i++)); do
    word="\${typed[i]}"
    known="\${route:+$route }$word"
    case "$known" in
      ${quotedPaths(words).join("|")}) route="$known" ;;
    esac
  done
  known="\${route:+$route }\${typed[at - 1]}"
  case "$known" in
${cases(new Map(optionsIn(words)))}
  esac
  if [ -z "$follows" ]; then
  case "$route" in
${cases(new Map(commandsIn(words)))}
  esac
  fi`;

const fishCases = (list: readonly (readonly [string, readonly string[]])[], after: string): string =>
  list.map(([key, words]) => `    case '${key}'\n      printf '%s\\n' ${words.join(" ")}${after}`).join("\n");

const scripts: Readonly<Record<Shell, Script>> = {
  bash: (words) => `# bash completion of portolan; made by \`portolan completion bash\`
_portolan() {
  local at=$COMP_CWORD
  local typed=("\${COMP_WORDS[@]}")
${walk(words, 1)}
  COMPREPLY=($(compgen -W "$follows" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _portolan portolan`,
  zsh: (words) => `#compdef portolan
# zsh completion of portolan; made by \`portolan completion zsh\`
_portolan() {
  local at=$CURRENT
  local -a typed
  typed=("\${(@)words}")
${walk(words, 2)}
  compadd -- \${=follows}
  _files
}
# The first completion loads this file by its name, and wants an answer to itself.
if [ "\${funcstack[1]}" = _portolan ]; then _portolan "$@"; else compdef _portolan portolan; fi`,
  fish: (words) => `# fish completion of portolan; made by \`portolan completion fish\`
function __portolan_words
  set -l typed (commandline -opc)
  set -l route ''
  for word in $typed[2..-1]
    set -l known (string trim -- "$route $word")
    switch $known
      case ${quotedPaths(words).join(" ")}
        set route $known
    end
  end
  switch (string trim -- "$route $typed[-1]")
${fishCases(optionsIn(words), "\n      return")}
  end
  switch $route
${fishCases(commandsIn(words), "")}
  end
end
complete -c portolan -a '(__portolan_words)'`,
};
