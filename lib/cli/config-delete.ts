import { keyOf } from "../config/config.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { addInputOptions, configInput, type InputOptions } from "./config-input.ts";
import { kindNamed } from "./config-kind.ts";
import { addPlaceOptions, openPlace, type PlaceOptions } from "./config-place.ts";
import { refusalText } from "./config-write.ts";
import { tellIfPinned } from "./recompiled-text.ts";
import type { Register } from "./terminal.ts";

interface DeleteOptions extends InputOptions, PlaceOptions {}

/** `portolan delete <type> <name>…` or `-f …`: goes on after what fails, and fails at the end. */
export const registerDelete: Register = (program, terminal) => {
  const command = program
    .command("delete")
    .description("delete objects by name, or those of files")
    .argument("[type]", "such as virtualservice")
    .argument("[names...]");
  addPlaceOptions(addInputOptions(command)).action(
    async (type: string | undefined, names: readonly string[], options: DeleteOptions) => {
      if ((type === undefined) === (options.filename === undefined)) {
        throw new PortolanError("name a type and objects, or files with -f, and not both");
      }
      const keys =
        type === undefined
          ? (await configInput(options, terminal, "delete")).map(keyOf)
          : keysNamed(type, names, options.namespace);
      const place = await openPlace(options);
      const failures: string[] = [];
      for (const { kind, name, namespace } of keys) {
        const result = await place.configs.delete(kind, name, namespace);
        if (result.kind === "written") terminal.out(`Deleted config: ${kind} ${name}`);
        else failures.push(`${kind} ${name} ${refusalText(result)}`);
      }
      tellIfPinned(terminal, await place.publish());
      if (failures.length > 0) throw new PortolanError(failures.join("; "));
    },
  );
};

function keysNamed(type: string, names: readonly string[], namespace = "default") {
  const { kind, clusterScoped } = kindNamed(type);
  if (names.length === 0) throw new PortolanError(`name the objects of type ${type} to delete`);
  return names.map((name) => ({ kind, name, namespace: clusterScoped ? "" : namespace }));
}
