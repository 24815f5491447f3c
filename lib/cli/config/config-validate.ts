import { type Diagnostic, keyText, PortolanError } from "../../config/diagnostic.ts";
import { counted } from "../numbers.ts";
import { isTrouble, proxiesOf } from "../proxy/bootstrap.ts";
import { printDiagnostics, type Register } from "../terminal.ts";
import { addInputArguments, type InputOptions, inputFiles, read } from "./config-input.ts";

/** `portolan validate -f …`: says everything that is wrong, without any store. */
export const registerValidate: Register = (program, terminal) => {
  const command = program.command("validate").description("Checks files; exit code 1 when something is refused.");
  addInputArguments(command)
    .option("--json", "the diagnostics as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  portolan validate samples/bookshop\n  portolan validate -f mesh/ -f more.yaml --json",
    )
    .action(async (paths: readonly string[], options: InputOptions & { readonly json?: boolean }) => {
      const loaded = read(await inputFiles([...paths, ...(options.filename ?? [])]), options.namespace);
      const ofProxies = proxiesOf(loaded).diagnostics.filter(isTrouble);
      const diagnostics = [...loaded.diagnostics, ...ofProxies];
      const errors = diagnostics.filter(isError);
      const remote = loaded.clusters.flatMap(({ objects }) => objects);
      const refused = new Set(ofProxies.filter(isError).map(({ origin }) => keyText(origin.key))).size;
      const count = loaded.configs.length + loaded.objects.length + loaded.others.length + remote.length - refused;
      if (options.json === true) terminal.out(JSON.stringify({ valid: count, diagnostics }));
      else printDiagnostics(terminal, diagnostics, Number.POSITIVE_INFINITY);
      if (errors.length > 0) {
        throw new PortolanError(
          `${counted(errors.length, "error")}; ${counted(count, "object is", "objects are")} valid`,
        );
      }
      if (options.json !== true) terminal.out(`${counted(count, "object is", "objects are")} valid`);
    });
};

const isError = ({ severity }: Diagnostic): boolean => severity === "error";
