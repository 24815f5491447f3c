import { type Command, InvalidArgumentError, Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { pathText } from "../../base/path-text.ts";
import { objectsOfShards, shardsOfRoot } from "../../compile/explain/root-objects.ts";
import { meantText } from "../../config/nearest-names.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import {
  type Cause,
  type ExplainedHost,
  type ExplainedRoute,
  type Explanation,
  explainResource,
} from "../../xds/explain/explain-resource.ts";
import type { RootObjects } from "../../xds/explain/root-object.ts";
import { examplesText } from "../examples.ts";
import { openThere, storeOption } from "../named-store.ts";
import type { Terminal } from "../terminal.ts";
import { placedNode, resourcesNamed } from "./class-resources.ts";
import { rootNamed, rootNames } from "./root-named.ts";

interface Options {
  readonly store?: string;
  readonly node: string;
  readonly host?: string;
  readonly route?: number;
  readonly root: string;
  readonly shape: ShapeName;
  readonly json?: boolean;
}

/** Virtual hosts that are shown where nobody names one. */
const maxHosts = 20;

/** `portolan explain RESOURCE --node N`: what made it. */
export function registerExplain(program: Command, terminal: Terminal): void {
  program
    .command("explain <resource>")
    .description("Shows the objects, by file and line, and the rules behind a resource of a proxy.")
    .addOption(storeOption())
    .requiredOption("--node <name>", "the proxy: pod.namespace, an address, a node id, or the id of a class")
    .option("--host <name>", "of a route table: this virtual host only, by its name or one of its domains")
    .option("--route <index>", "of that host: this route only, counted from 0", indexIn)
    .option("--root <name>", "which root", "SERVED")
    .addOption(new Option("--shape <name>", "which of a class's answers").choices([...shapes]).default("stream"))
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `\nA resource is named as Envoy names it, with clusters/, endpoints/, listeners/ or routes/ before it where several types have the name.\n${rootNames}\n${examplesText(
        [
          "explain 9080 --node storefront-1.bookshop",
          "explain 9080 --node storefront-1.bookshop --host reviews.bookshop.svc.cluster.local --route 0",
          "explain 'outbound|9080|v1|reviews.bookshop.svc.cluster.local' --node storefront-1.bookshop --json",
          "explain routes/http.10080 --node istio-ingressgateway-1.bookshop --root HEAD~1",
        ],
      )}`,
    )
    .action(async (written: string, { store: where, node, host, route, root: rootName, shape, json }: Options) => {
      if (route !== undefined && host === undefined)
        throw new InvalidArgumentError(`--route ${route} counts the routes of one virtual host: name it with --host`);
      const store = await openThere(where, terminal.progress);
      const reader = createSnapshotReader(store);
      const root = await rootNamed(store, rootName, reader);
      const loaded = await reader.root(root);
      const placed = await placedNode(reader, loaded, node);
      const found = await resourcesNamed(reader, loaded, { classId: placed.classId, shape }, written);
      const objects = await rootObjects(store, loaded.root.sources, terminal);
      const explained = found
        .map((resource) => explainResource(resource, objects, placed.namespace))
        .map((explanation) => narrowed(explanation, host, route));
      const { classId, byDefault } = placed;
      if (json === true)
        return terminal.out(
          JSON.stringify({ root, node, classId, byDefault, shape, resources: explained }, undefined, 2),
        );
      const why = byDefault === undefined ? "" : ` (the default of ${byDefault}: this node has none of its own)`;
      terminal.out(terminal.colours.dim(`class ${classId}${why}, root ${root.slice(0, 12)}`));
      for (const explanation of explained) {
        for (const line of explanationLines(explanation, terminal.colours, host !== undefined)) terminal.out(line);
      }
    });
}

/** Without the sources' texts the objects are still named; where they stand is not known. */
async function rootObjects(
  store: ObjectStore,
  sources: Parameters<typeof shardsOfRoot>[1],
  terminal: Terminal,
): Promise<RootObjects> {
  try {
    return objectsOfShards(await shardsOfRoot(store, sources));
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    terminal.err(`${cause.message}; objects are named without file and line, routes without their rules`);
    return objectsOfShards([]);
  }
}

function indexIn(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no index; routes are counted from 0`);
}

/** One virtual host, and one route of it, where somebody names them. */
function narrowed(explanation: Explanation, host: string | undefined, route: number | undefined): Explanation {
  if (host === undefined || explanation.type !== "routes") return explanation;
  const { virtualHosts, name } = explanation;
  const wanted = host.toLowerCase();
  const found = virtualHosts.filter(
    (one) => one.name === wanted || one.name.replace(/:\d+$/, "") === wanted || one.domains.includes(wanted),
  );
  if (found.length === 0) {
    const names = virtualHosts.map((one) => one.name.replace(/:\d+$/, ""));
    const meant = meantText(wanted, [...names, ...virtualHosts.flatMap(({ domains }) => domains)]);
    const has = `; it has ${names.slice(0, maxHosts).join(", ")}${names.length > maxHosts ? " and more" : ""}`;
    throw new PortolanError(
      `table ${name} has no virtual host "${host.slice(0, 200)}"${meant || names.length === 0 ? meant : has}`,
    );
  }
  if (route === undefined) return { ...explanation, virtualHosts: found };
  const hosts = found.map((one) => ({ ...one, routes: one.routes.filter(({ index }) => index === route) }));
  if (hosts.every(({ routes }) => routes.length === 0)) {
    const count = Math.max(...found.map(({ routes }) => routes.length));
    throw new PortolanError(`${found[0]?.name} has no route ${route}; it has ${count}, counted from 0`);
  }
  return { ...explanation, virtualHosts: hosts };
}

type Colours = Terminal["colours"];

function explanationLines(explanation: Explanation, colours: Colours, isNarrowed: boolean): readonly string[] {
  const { type, name, version, reason, causes, virtualHosts } = explanation;
  const shown = isNarrowed ? virtualHosts : virtualHosts.slice(0, maxHosts);
  const more = virtualHosts.length - shown.length;
  return [
    `${colours.bold(`${type} ${name}`)} ${colours.dim(`version ${version.slice(0, 12)}`)}`,
    `  ${reason}`,
    // Of a table, each host has its own.
    ...(shown.length > 0 ? [] : causeLines(causes, colours, "  ")),
    ...shown.flatMap((host) => hostLines(host, colours)),
    ...(more > 0 ? [`  and ${more} more virtual hosts; --host names one`] : []),
  ];
}

function hostLines({ name, domains, reason, causes, routes }: ExplainedHost, colours: Colours): readonly string[] {
  const others =
    domains.length > 3 ? `${domains.slice(0, 3).join(", ")} and ${domains.length - 3} more` : domains.join(", ");
  return [
    `  ${colours.cyan("host")} ${colours.bold(name)} ${colours.dim(others)}`,
    `    ${reason}`,
    ...causeLines(causes, colours, "    "),
    ...routes.flatMap((route) => routeLines(route, colours)),
  ];
}

function routeLines(
  { index, name, takes, leadsTo, reason, cause }: ExplainedRoute,
  colours: Colours,
): readonly string[] {
  const called = name === "" ? "" : ` ${name}`;
  const to = leadsTo.length === 0 ? "" : ` → ${leadsTo.join(", ")}`;
  return [
    `    ${colours.cyan("route")} ${index}${called}: ${takes}${to}`,
    cause === undefined ? `      ${reason}` : `      ${causeText(cause, colours)}`,
  ];
}

const causeLines = (causes: readonly Cause[], colours: Colours, indent: string): readonly string[] =>
  causes.map((cause) => `${indent}from ${causeText(cause, colours)}`);

function causeText({ object, at, path }: Cause, colours: Colours): string {
  const place = at === undefined ? "" : `${colours.green(at)} `;
  return `${place}${object}${path.length === 0 ? "" : ` ${colours.dim(pathText(path))}`}`;
}
