import { InvalidArgumentError, Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { kubeOption, takenHint } from "../kube/kube-connection.ts";
import { objectsInCluster } from "../kube/kube-read.ts";
import { wholeNumber } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import type { Register } from "../terminal.ts";
import { objectsAt, objectsOf, whereElse } from "./config-find.ts";
import { type NamedObjects, namedObjects } from "./config-kind.ts";
import { type OutputFormat, outputFormats, printObjects, type ShownObject } from "./config-print.ts";
import { addTargetOptions, openTarget, type TargetOptions, usualSource } from "./config-target.ts";
import { withStatuses } from "./object-statuses.ts";

interface GetOptions extends Omit<TargetOptions, "source"> {
  readonly source?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output: OutputFormat;
  readonly at?: number;
  readonly kube?: string;
}

/** `portolan get <type> [name]`, as kubectl's. */
export const registerGet: Register = (program, terminal) => {
  const command = program
    .command("get")
    .description("Shows objects of all sources, applied or from a folder.")
    .usage("[options] <type> [names...]")
    .argument("[type]", "such as virtualservices, vs, vs,gw or vs/reviews")
    .argument("[names...]")
    .option("-n, --namespace <name>", "the namespace; all when listing without it")
    .option("-A, --all-namespaces", "of all namespaces")
    .addOption(new Option("-o, --output <format>", "how to print").choices(outputFormats).default("short"))
    .addOption(jsonOption())
    .addOption(kubeOption("read a live Kubernetes cluster instead of a store").conflicts(["source", "at"]))
    .option("--at <revision>", "as they were at this revision of the applied objects", wholeNumber(1))
    .addHelpText(
      "after",
      "\nExamples:\n  portolan get vs\n  portolan get httproute shop -o yaml\n  portolan get vs,gw -n bookshop -o wide\n  portolan get vs/reviews -n bookshop -o yaml\n  portolan get vs --kube=prod",
    );
  addTargetOptions(command, { anySource: true }).action(
    async (type: string | undefined, names: readonly string[], options: GetOptions) => {
      if (type === undefined) throw new InvalidArgumentError(`name a type, as in \`get vs\`${takenHint(options.kube)}`);
      const wanted = namedObjects([type, ...names]);
      const all = await allObjects(wanted, options);
      const found = wanted.flatMap((one) => objectsNamed(all, one, options));
      if (found.length > 0) printObjects(terminal, found, options.output);
      else terminal.err("No resources found.");
    },
  );
};

async function allObjects(wanted: readonly NamedObjects[], options: GetOptions): Promise<readonly ShownObject[]> {
  const { source, at, kube } = options;
  if (kube !== undefined) return objectsInCluster(kube, wanted);
  const place = await openTarget({ ...options, source: source ?? usualSource });
  return at === undefined
    ? withStatuses(place, await objectsOf(place, source, { served: true }))
    : objectsAt(place, at);
}

/** @throws PortolanError when the one that is named is not there, with where there is one of that name */
function objectsNamed(
  all: readonly ShownObject[],
  { kind, others, name }: NamedObjects,
  { namespace, allNamespaces = false }: GetOptions,
): readonly ShownObject[] {
  const alike = [kind, ...others].flatMap((meant) =>
    all.filter(
      (one) => one.kind === meant.kind && one.group === meant.group && (name === undefined || one.name === name),
    ),
  );
  const isEverywhere = allNamespaces || kind.clusterScoped || (namespace === undefined && name === undefined);
  const wanted = namespace ?? "default";
  // Without a namespace of its own, an object of a folder is in default.
  const found = alike.filter((one) => isEverywhere || (one.namespace || "default") === wanted);
  if (found.length > 0 || name === undefined) return found;
  const [there = kind] = alike;
  const hint = whereElse(all, { group: there.group, kind: there.kind, name });
  throw new PortolanError(`there is no ${kind.kind} ${isEverywhere ? name : `${wanted}/${name}`}; ${hint}`);
}
