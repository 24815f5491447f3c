import { InvalidArgumentError } from "commander";
import { keyOf } from "../config/config.ts";
import { keyText, kindText, PortolanError } from "../config/diagnostic.ts";
import { schemaOf } from "../config/kind-registry.ts";
import { objectsOf, whereElse } from "./config-find.ts";
import { printCommits } from "./config-history.ts";
import { namedObjects } from "./config-kind.ts";
import { addPlaceOptions, openPlace, type PlaceOptions } from "./config-place.ts";
import { nameOf, printObjects, printTable, shownConfig } from "./config-print.ts";
import { withStatuses } from "./object-statuses.ts";
import { printDiagnostics, type Register } from "./terminal.ts";

/** How far back the writes that touched the object are looked for. */
const searchedWrites = 200;

interface DescribeOptions extends Omit<PlaceOptions, "source"> {
  readonly source?: string;
  readonly namespace: string;
  readonly json?: boolean;
}

/** `portolan describe <type> <name>`: an object, what validation says of it, and who wrote it. */
export const registerDescribe: Register = (program, terminal) => {
  const command = program
    .command("describe")
    .description("Shows an object with its warnings and its history.")
    .argument("<type>", "such as virtualservice, vs or vs/reviews")
    .argument("[name]")
    .option("-n, --namespace <name>", "its namespace", "default")
    .option("--json", "the object, what validation says of it, and who wrote it, as JSON")
    .addHelpText("after", "\nExample:\n  portolan describe vs reviews -n bookshop");
  addPlaceOptions(command, { anySource: true }).action(
    async (type: string, name: string | undefined, options: DescribeOptions) => {
      const [object] = namedObjects(name === undefined ? [type] : [type, name]);
      if (object?.name === undefined) throw new InvalidArgumentError("name the object: describe vs reviews");
      const { kind, group, clusterScoped } = object.kind;
      const namespace = clusterScoped ? "" : options.namespace;
      const { source = "operators" } = options;
      const place = await openPlace({ ...options, source });
      const config = await place.configs.get(kindText(object.kind), object.name, namespace);
      if (config === undefined) {
        const { name } = object;
        const all = await objectsOf(place, options.source);
        const found = all.find(
          (one) => one.kind === kind && one.group === group && one.name === name && one.namespace === namespace,
        );
        if (found === undefined)
          throw new PortolanError(`there is no ${kind} ${namespace}/${name}; ${whereElse(all, { group, kind, name })}`);
        const shown = await withStatuses(place, [found]);
        if (options.json === true)
          return terminal.out(
            JSON.stringify({ source: found.source, object: shown[0]?.object, findings: [], history: [] }),
          );
        terminal.out(terminal.colours.bold(nameOf(found)));
        printObjects(terminal, shown, "yaml");
        terminal.out(`comes with the folder of source ${found.source}`);
        return;
      }
      const findings = schemaOf(config.meta.group, kind)?.read(config.spec, config.meta, "refuse").findings ?? [];
      const key = keyText(keyOf(config));
      const commits = (await place.configs.ledger.history(searchedWrites)).filter(({ keys }) => keys.includes(key));
      const shown = await withStatuses(place, [shownConfig(source, config)]);
      if (options.json === true)
        return terminal.out(JSON.stringify({ source, object: shown[0]?.object, findings, history: commits }));
      terminal.out(terminal.colours.bold(nameOf(config.meta)));
      printObjects(terminal, shown, "yaml");
      printDiagnostics(
        terminal,
        findings.map((finding) => ({ ...finding, origin: config.origin })),
      );
      printCommits(commits, (rows) => printTable(terminal, rows));
    },
  );
};
