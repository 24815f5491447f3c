import { PortolanError } from "../config/diagnostic.ts";
import { addInputOptions, type InputOptions, inputFiles, read } from "./config-input.ts";
import { printDiagnostics, type Register } from "./terminal.ts";

/** `portolan validate -f …`: says everything that is wrong, without any store. */
export const registerValidate: Register = (program, terminal) => {
  addInputOptions(program.command("validate").description("check files; exit code 1 when something is refused")).action(
    async (options: InputOptions) => {
      const loaded = read(await inputFiles(options.filename), options.namespace);
      const errors = loaded.diagnostics.filter(({ severity }) => severity === "error");
      const remote = loaded.clusters.flatMap(({ objects }) => objects);
      const count = loaded.configs.length + loaded.objects.length + loaded.others.length + remote.length;
      if (errors.length > 0) {
        printDiagnostics(terminal, loaded.diagnostics, Number.POSITIVE_INFINITY);
        throw new PortolanError(
          `${errors.length} ${errors.length === 1 ? "error" : "errors"}; ${count} objects are valid`,
        );
      }
      printDiagnostics(terminal, loaded.diagnostics, Number.POSITIVE_INFINITY);
      terminal.out(`${count} objects are valid`);
    },
  );
};
