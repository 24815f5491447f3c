import { Option } from "commander";
import { PortolanError } from "../config/diagnostic.ts";
import { objectsAt, objectsOf } from "./config-find.ts";
import { type NamedObjects, namedObjects } from "./config-kind.ts";
import { addPlaceOptions, openPlace, type PlaceOptions } from "./config-place.ts";
import { type OutputFormat, outputFormats, printObjects, type ShownObject } from "./config-print.ts";
import { wholeNumber } from "./numbers.ts";
import { withStatuses } from "./object-statuses.ts";
import type { Register } from "./terminal.ts";

interface GetOptions extends Omit<PlaceOptions, "source"> {
  readonly source?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output: OutputFormat;
  readonly at?: number;
}

/** `portolan get <type> [name]`, as kubectl's. */
export const registerGet: Register = (program, terminal) => {
  const command = program
    .command("get")
    .description("Shows objects of all sources, applied or from a folder.")
    .argument("<type>", "such as virtualservices, vs, vs,gw or vs/reviews")
    .argument("[names...]")
    .option("-n, --namespace <name>", "the namespace; all when listing without it")
    .option("-A, --all-namespaces", "of all namespaces")
    .addOption(new Option("-o, --output <format>", "how to print").choices(outputFormats).default("short"))
    .option("--at <revision>", "as they were at a revision of what was applied", wholeNumber(1))
    .addHelpText(
      "after",
      "\nExamples:\n  portolan get vs\n  portolan get httproute shop -o yaml\n  portolan get vs,gw -n bookshop -o wide\n  portolan get vs/reviews -n bookshop -o yaml",
    );
  addPlaceOptions(command, { anySource: true }).action(
    async (type: string, names: readonly string[], options: GetOptions) => {
      const wanted = namedObjects([type, ...names]);
      const { source, at } = options;
      const place = await openPlace({ ...options, source: source ?? "operators" });
      const all = at === undefined ? await objectsOf(place, source) : await objectsAt(place, at);
      const named = wanted.flatMap((one) => objectsNamed(all, one, options));
      const found = at === undefined ? await withStatuses(place, named) : named;
      if (found.length > 0) printObjects(terminal, found, options.output);
      else terminal.err("No resources found.");
    },
  );
};

/** @throws PortolanError when the one that is named is not there, with where there is one of that name */
function objectsNamed(
  all: readonly ShownObject[],
  { kind, name }: NamedObjects,
  { namespace, allNamespaces = false }: GetOptions,
): readonly ShownObject[] {
  const alike = all.filter(
    (one) => one.kind === kind.kind && one.group === kind.group && (name === undefined || one.name === name),
  );
  const isEverywhere = allNamespaces || kind.clusterScoped || (namespace === undefined && name === undefined);
  const wanted = namespace ?? "default";
  // Without a namespace of its own, an object of a folder is in default.
  const found = alike.filter((one) => isEverywhere || (one.namespace || "default") === wanted);
  if (found.length > 0 || name === undefined) return found;
  const others = alike.map((one) => one.namespace);
  const hint = others.length === 0 ? "" : `; there is one in ${others.join(", ")}: -n ${others[0]}`;
  throw new PortolanError(`there is no ${kind.kind} ${isEverywhere ? name : `${wanted}/${name}`}${hint}`);
}
