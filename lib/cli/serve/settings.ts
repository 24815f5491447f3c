import { Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { environmentOf } from "../../settings/environment.ts";
import { schemaText } from "../../settings/reference.ts";
import { examplesText } from "../examples.ts";
import { printDiagnostic, type Register } from "../terminal.ts";
import { type Part, parts } from "./rule.ts";
import { checkServable, settingsIn, wrongSettings } from "./settings-file.ts";

interface CheckOptions {
  readonly json?: boolean;
  readonly only?: readonly Part[];
}

/** `portolan settings …`: the settings file, checked and told in other forms. */
export const registerSettings: Register = (program, terminal) => {
  const settings = program.command("settings").description("The settings file of `portolan serve`: portolan.yaml.");
  settings
    .command("check <file>")
    .description(
      "Lists all errors of a settings file, and the settings that `serve` would refuse on this machine; exit code 1 if there are any.",
    )
    .addOption(new Option("--only <parts...>", "check only these parts, as `serve --only` runs them").choices(parts))
    .option("--json", "the diagnostics as JSON")
    .addHelpText(
      "after",
      examplesText([
        "settings check portolan.yaml",
        "settings check portolan.yaml --only front",
        "settings check portolan.yaml --json",
      ]),
    )
    .action(async (file: string, { json = false, only = parts }: CheckOptions) => {
      const { value, diagnostics } = await checkServable(file, new Set(only));
      if (json) terminal.out(JSON.stringify({ valid: value !== undefined, diagnostics }));
      else for (const diagnostic of diagnostics) printDiagnostic(terminal, diagnostic);
      if (value === undefined) throw new PortolanError(wrongSettings(file, diagnostics));
      if (!json) terminal.out(`${file} is valid`);
    });
  settings
    .command("env <file>")
    .description("Prints the equivalent environment variables, including secrets, for programs that read no file.")
    .option("--worker", "the variables of a Worker instead")
    .option("--json", "one JSON object")
    .addHelpText(
      "after",
      examplesText(["settings env portolan.yaml > /etc/portolan/env", "settings env portolan.yaml --worker --json"]),
    )
    .action(async (file: string, { json, worker }: { readonly json?: boolean; readonly worker?: boolean }) => {
      const ofWorker = (field: { readonly worker: string }) => (field.worker === "" ? undefined : field.worker);
      const variables = environmentOf(await settingsIn(file), ...(worker === true ? [ofWorker] : []));
      if (json === true) terminal.out(JSON.stringify(variables));
      else for (const [name, value] of Object.entries(variables)) terminal.out(`${name}=${quoted(value)}`);
    });
  settings
    .command("schema")
    .description("Prints the file's JSON Schema, for editors.")
    .addHelpText("after", examplesText(["settings schema > portolan.schema.json"]))
    .action(() => terminal.out(schemaText().trimEnd()));
};

/** As shells and systemd read it. */
const quoted = (value: string): string =>
  /^[\w./:@%+=,-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
