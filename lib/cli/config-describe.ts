import { keyOf } from "../config/config.ts";
import { keyText, kindText, PortolanError } from "../config/diagnostic.ts";
import { schemaOf } from "../config/kind-registry.ts";
import { printCommits } from "./config-history.ts";
import { kindNamed } from "./config-kind.ts";
import { addPlaceOptions, openPlace, type PlaceOptions } from "./config-place.ts";
import { nameOf, printConfigs, printTable } from "./config-print.ts";
import { printDiagnostics, type Register } from "./terminal.ts";

/** How far back the writes that touched the object are looked for. */
const searchedWrites = 200;

/** `portolan describe <type> <name>`: an object, what validation says of it, and who wrote it. */
export const registerDescribe: Register = (program, terminal) => {
  const command = program
    .command("describe")
    .description("show an object with its warnings and its history")
    .argument("<type>", "such as virtualservice")
    .argument("<name>")
    .option("-n, --namespace <name>", "its namespace", "default");
  addPlaceOptions(command).action(
    async (type: string, name: string, options: PlaceOptions & { readonly namespace: string }) => {
      const schema = kindNamed(type);
      const { kind, clusterScoped } = schema;
      const { configs } = await openPlace(options);
      const config = await configs.get(kindText(schema), name, clusterScoped ? "" : options.namespace);
      if (config === undefined) throw new PortolanError(`there is no ${kind} ${options.namespace}/${name}`);
      terminal.out(terminal.colours.bold(nameOf(config)));
      printConfigs(terminal, [config], "yaml");
      const findings = schemaOf(config.meta.group, kind)?.read(config.spec, config.meta, "refuse").findings ?? [];
      printDiagnostics(
        terminal,
        findings.map((finding) => ({ ...finding, origin: config.origin })),
      );
      const key = keyText(keyOf(config));
      const commits = (await configs.ledger.history(searchedWrites)).filter(({ keys }) => keys.includes(key));
      printCommits(commits, (rows) => printTable(terminal, rows));
    },
  );
};
