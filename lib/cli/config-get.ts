import { type Config, keyOf } from "../config/config.ts";
import { kindText, PortolanError } from "../config/diagnostic.ts";
import { kindNamed } from "./config-kind.ts";
import { addPlaceOptions, type ConfigPlace, openPlace, type PlaceOptions } from "./config-place.ts";
import { outputFormat, outputFormats, printConfigs } from "./config-print.ts";
import type { Register } from "./terminal.ts";

interface GetOptions extends PlaceOptions {
  readonly namespace?: string;
  readonly output: string;
  readonly at?: string;
}

/** `portolan get <type> [name]`. */
export const registerGet: Register = (program, terminal) => {
  const command = program
    .command("get")
    .description("show objects")
    .argument("<type>", "such as virtualservices")
    .argument("[name]")
    .option("-n, --namespace <name>", "the namespace; all when listing without it")
    .option("-o, --output <format>", outputFormats.join(", "), "short")
    .option("--at <revision>", "as they were at a revision of the store");
  addPlaceOptions(command).action(async (type: string, name: string | undefined, options: GetOptions) => {
    const schema = kindNamed(type);
    const format = outputFormat(options.output);
    const place = await openPlace(options);
    const all = await configsAt(place, kindText(schema), options.at);
    const namespace = schema.clusterScoped ? "" : (options.namespace ?? (name === undefined ? undefined : "default"));
    const found = all.filter(
      ({ meta }) =>
        (name === undefined || meta.name === name) && (namespace === undefined || meta.namespace === namespace),
    );
    if (found.length > 0) printConfigs(terminal, found, format);
    else if (name === undefined) terminal.err("No resources found.");
    else throw new PortolanError(`there is no ${schema.kind} ${namespace === "" ? name : `${namespace}/${name}`}`);
  });
};

/** Objects of a kind, now or at a revision. */
async function configsAt(place: ConfigPlace, kind: string, at: string | undefined): Promise<readonly Config[]> {
  if (at === undefined) return place.configs.list(kind);
  const revision = Number(at);
  const commit = (await place.configs.ledger.history(Number.POSITIVE_INFINITY)).find(
    (one) => one.revision === revision,
  );
  if (commit === undefined) throw new PortolanError(`the store has no revision ${at}`);
  return (await place.configs.listAtVersion(commit.root)).filter((config) => kindText(keyOf(config)) === kind);
}
