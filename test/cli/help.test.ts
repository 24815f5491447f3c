import { Command } from "commander";
import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { helpGroups } from "../../lib/cli/help-groups.ts";
import { commandModules, createProgram, runCli } from "../../lib/cli/program.ts";

const lines: string[] = [];
const terminal = {
  out: (line: string) => lines.push(line),
  err: (line: string) => lines.push(line),
  colours: picocolors.createColors(false),
};

/** Commands that do something, `token create` among them, by their words. */
function leaves(command: Command, words = ""): readonly (readonly [string, Command])[] {
  const all = command.commands.map((child) => [`${words} ${child.name()}`.trim(), child] as const);
  return all.flatMap(([name, child]) => (child.commands.length === 0 ? [[name, child] as const] : leaves(child, name)));
}

const program = await createProgram(terminal);
const commands = leaves(program);

async function told(...args: readonly string[]): Promise<string> {
  lines.length = 0;
  await runCli(["node", "portolan", ...args], terminal);
  return lines.join("\n");
}

describe("the help", () => {
  it.each(commands.map(([name]) => name))("of %s has an example of it", async (name) => {
    const help = await told(...name.split(" "), "--help");
    const [, examples = ""] = help.split(/\nExamples?:\n/);
    expect(examples).toMatch(new RegExp(`^ {2}(?:[A-Z_]+=\\S+ )?portolan ${name}\\b`, "m"));
    expect(help).not.toContain("\n\n\n");
  });

  it("lists every command once, by task, each on one line of 110 columns", () => {
    const help = program.helpInformation();
    const listed = [...help.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
    expect(listed).toEqual([...Object.values(helpGroups).flatMap((names) => Object.keys(names)), "help"]);
    expect(help.split("\n").filter((line) => line.length > 110)).toEqual([]);
    for (const group of Object.keys(helpGroups)) expect(help).toContain(`\n${group}\n`);
  });

  it.each(commandModules)("loads $names by the names that its module registers", async ({ names, load }) => {
    const alone = new Command();
    (await load())(alone, terminal);
    expect(alone.commands.map((command) => command.name()).toSorted()).toEqual([...names].toSorted());
  });

  it("begins with what the command does, as a sentence", () => {
    const others = commands.filter(([, command]) => !/^[A-Z].*[.)]$/s.test(command.description()));
    expect(others.map(([name]) => name)).toEqual([]);
  });

  it("offers JSON wherever something is printed", () => {
    const isJsonAnyhow = ["bootstrap-v1", "serve", "settings schema"];
    const without = commands.filter(([name, command]) => {
      const hasJson = command.options.some(({ long, argChoices }) => long === "--json" || argChoices?.includes("json"));
      return !hasJson && !isJsonAnyhow.includes(name);
    });
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it("names stores in the same way for all", () => {
    const stores = commands.flatMap(([, command]) => command.options.filter(({ long }) => long === "--store"));
    expect(stores.length).toBeGreaterThan(20);
    expect(new Set(stores.map(({ flags, envVar }) => `${flags} ${envVar}`))).toEqual(
      new Set(["--store <where> PORTOLAN_STORE"]),
    );
  });
});
