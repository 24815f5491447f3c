import { Option } from "commander";
import { type Diagnostic, keyText, PortolanError } from "../../base/diagnostic.ts";
import { counted } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import { isTrouble, proxiesOf } from "../proxy/bootstrap.ts";
import { printDiagnostics, type Register } from "../terminal.ts";
import { addInputArguments, type InputOptions, inputFiles, read } from "./config-input.ts";
import { atFields } from "./field-lines.ts";

/** `portolan validate -f …`: says everything that is wrong, without any store. */
export const registerValidate: Register = (program, terminal) => {
  const command = program.command("validate").description("Checks files; exit code 1 when something is refused.");
  addInputArguments(command)
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  portolan validate samples/bookshop\n  portolan validate -f mesh/ -f more.yaml -o json",
    )
    .action(async (paths: readonly string[], options: InputOptions & { readonly output: "text" | "json" }) => {
      const files = await inputFiles([...paths, ...(options.filename ?? [])]);
      const loaded = read(files, options.namespace);
      const ofProxies = proxiesOf(loaded).diagnostics.filter(isTrouble);
      const diagnostics = atFields([...loaded.diagnostics, ...ofProxies], files);
      const errors = diagnostics.filter(isError);
      const remote = loaded.clusters.flatMap(({ objects }) => objects);
      const refused = new Set(ofProxies.filter(isError).map(({ origin }) => keyText(origin.key))).size;
      const count = loaded.configs.length + loaded.objects.length + loaded.others.length + remote.length - refused;
      if (options.output === "json") terminal.out(JSON.stringify({ valid: count, diagnostics }));
      else printDiagnostics(terminal, diagnostics, Number.POSITIVE_INFINITY);
      if (errors.length > 0) {
        throw new PortolanError(
          `${counted(errors.length, "error")}; ${counted(count, "object is", "objects are")} valid`,
        );
      }
      if (options.output !== "json") terminal.out(`${counted(count, "object is", "objects are")} valid`);
    });
};

const isError = ({ severity }: Diagnostic): boolean => severity === "error";
