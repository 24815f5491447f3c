import { InvalidArgumentError } from "commander";
import { type Diagnostic, errorsOf, keyText, kindText, PortolanError } from "../../base/diagnostic.ts";
import { keyOf } from "../../config/config.ts";
import { asParsed } from "../../config/documents/as-parsed.ts";
import { schemaOf } from "../../config/kind-registry.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { printDiagnostics, type Register, type Terminal } from "../terminal.ts";
import { type CollectedObject, collectedObject, publishedForms } from "./collected-object.ts";
import { objectsOf, shownParsed, whereElse } from "./config-find.ts";
import { printCommits } from "./config-history.ts";
import { type NamedKind, namedObjects } from "./config-kind.ts";
import { nameOf, printObjects, printTable, type ShownObject, shownConfig } from "./config-print.ts";
import { addTargetOptions, type ConfigTarget, openTarget, type TargetOptions, usualSource } from "./config-target.ts";
import { folderObject, publishedFindings } from "./folder-object.ts";
import { withStatuses } from "./object-statuses.ts";

/** How far back the writes that touched the object are looked for. */
const searchedWrites = 200;

interface DescribeOptions extends Omit<TargetOptions, "source"> {
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
    .option("--json", "the object, its validation messages and its author, as JSON")
    .addHelpText("after", "\nExample:\n  portolan describe vs reviews -n bookshop");
  addTargetOptions(command, { anySource: true }).action(
    async (type: string, name: string | undefined, options: DescribeOptions) => {
      const [object] = namedObjects(name === undefined ? [type] : [type, name]);
      if (object?.name === undefined) throw new InvalidArgumentError("name the object: describe vs reviews");
      const { kind, others, name: sought } = object;
      const { namespace, source = usualSource } = options;
      const place = await openTarget({ ...options, source });
      const all = await objectsOf(place, options.source);
      const isShown = (meant: NamedKind) =>
        all.some(
          (one) =>
            one.kind === meant.kind &&
            one.group === meant.group &&
            isAt(one, sought, meant.clusterScoped ? "" : namespace),
        );
      const found: NamedKind[] = [];
      for (const meant of [kind, ...others]) {
        const key = keyText({ ...meant, name: sought, namespace: meant.clusterScoped ? "" : namespace });
        // One that is not valid is shown by no list.
        const isThere =
          isShown(meant) || (!place.isRemote && (await collectedObject(place.objects, key, options.source)));
        if (isThere) found.push(meant);
      }
      const [first = kind, ...more] = found;
      for (const meant of [first, ...more])
        await describeOne(terminal, place, { kind: meant, name: sought }, { ...options, all });
    },
  );
};

const isAt = (one: ShownObject, name: string, namespace: string): boolean =>
  one.name === name && one.namespace === namespace;

/** @throws PortolanError where there is none, with where there is one of that name */
async function describeOne(
  terminal: Terminal,
  place: ConfigTarget,
  { kind: meant, name: sought }: { readonly kind: NamedKind; readonly name: string },
  options: DescribeOptions & { readonly all: readonly ShownObject[] },
): Promise<void> {
  const { kind, group, clusterScoped } = meant;
  const namespace = clusterScoped ? "" : options.namespace;
  const { source } = place;
  const config = await place.configs.get(kindText(meant), sought, namespace);
  if (config === undefined) {
    const key = keyText({ group, kind, name: sought, namespace });
    const collected = place.isRemote ? undefined : await collectedObject(place.objects, key, options.source);
    if (collected !== undefined) return describeCollected(terminal, place, key, collected, options.json === true);
    const found = options.all.find((one) => one.kind === kind && one.group === group && isAt(one, sought, namespace));
    if (found === undefined) {
      const findings = place.isRemote ? [] : await publishedFindings(place.objects, key);
      if (findings.some(({ severity }) => severity === "error"))
        throw new PortolanError(`${kind} ${namespace}/${sought} is not valid; ${insteadText(findings)}`, findings);
      throw new PortolanError(
        `there is no ${kind} ${namespace}/${sought}; ${whereElse(options.all, { group, kind, name: sought })}`,
      );
    }
    const known = place.isRemote ? undefined : await folderObject(place.objects, found.source, key, searchedWrites);
    const shown = await withStatuses(place, [found]);
    const { at, findings = [], history = [] } = known ?? {};
    if (options.json === true)
      return terminal.out(JSON.stringify({ source: found.source, at, object: shown[0]?.object, findings, history }));
    terminal.out(terminal.colours.bold(nameOf(found)));
    printObjects(terminal, shown, "yaml");
    printDiagnostics(terminal, findings);
    terminal.out(`comes with the folder of source ${found.source}${at === undefined ? "" : `, ${at}`}`);
    if (history.length === 0) return;
    printTable(terminal, [
      ["GENERATION", "TIME", "CHANGE", "BY", "WHERE"],
      ...history.map((one) => [String(one.generation), one.at, one.change, one.by ?? "-", one.place || "-"]),
    ]);
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
}

/** Of what a collector has brought the history is what was published. */
async function describeCollected(
  terminal: Terminal,
  place: ConfigTarget,
  key: string,
  { source, from, version, object, findings }: CollectedObject,
  json: boolean,
): Promise<void> {
  const history = await publishedForms(place.objects, source, key, searchedWrites);
  const parsed = shownParsed(source, asParsed(object, from));
  const shown = await withStatuses(place, [parsed]);
  if (json) return terminal.out(JSON.stringify({ source, object: shown[0]?.object, findings, history }));
  terminal.out(terminal.colours.bold(nameOf(parsed)));
  printObjects(terminal, shown, "yaml");
  printDiagnostics(terminal, findings);
  if (errorsOf(findings).length > 0) terminal.out(`it is not valid; ${await refusedText(place.objects, key)}`);
  terminal.out(`comes from ${from}, source ${source}${version === "" ? "" : `, version ${version}`}`);
  if (history.length === 0) return;
  printTable(terminal, [
    ["GENERATION", "TIME", "CHANGE", "VERSION"],
    ...history.map(({ generation, at, change, version: then }) => [String(generation), at, change, then]),
  ]);
}

/** What is served in the place of a collected object that is refused, as the newest compile recorded it. */
async function refusedText(store: ObjectStore, key: string): Promise<string> {
  const published = await publishedFindings(store, key);
  return errorsOf(published).length > 0 ? insteadText(published) : "this version of it is not published yet";
}

/** What is served in the place of an object that is refused. */
function insteadText(findings: readonly Diagnostic[]): string {
  if (findings.some(({ code }) => code === "security-closed"))
    return "all requests to the workloads that it selects are denied until it is valid";
  return findings.some(({ code }) => code === "last-valid-served")
    ? "its last valid version is served"
    : "it is not served";
}
