import type { Command } from "commander";
import { errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { createShardCompiler } from "../../compile/compile-files.ts";
import { servicesBehind } from "../../compile/explain/endpoint-services.ts";
import { type TouchedResource, touchedBy } from "../../compile/explain/impact.ts";
import { objectsOfShards, shardsOfRoot } from "../../compile/explain/root-objects.ts";
import { readShard } from "../../compile/shards/read-shard.ts";
import { isCollected, isHeld, type Shard, type ShardContent } from "../../compile/shards/shard.ts";
import { filePrefixOf } from "../../compile/shards/source-names.ts";
import { listKey, textsOfShard, versionKey } from "../../compile/shards/source-shard.ts";
import { versionText } from "../../compile/shards/version-text.ts";
import { writeShard } from "../../compile/shards/write-shard.ts";
import { locationsIn } from "../../compile/source-locations.ts";
import { settleSettings, worldOptionsOf } from "../../compile/world/recorded-settings.ts";
import { defaultWorldOptions } from "../../compile/world/world-of.ts";
import { meantText } from "../../config/nearest-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { diffWorlds } from "../../snapshot/worlds/diff-worlds.ts";
import { loadWorldLike } from "../../snapshot/worlds/load-world.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { overlayStore } from "../../storage/overlay.ts";
import type { RootObject, RootObjects } from "../../xds/explain/root-object.ts";
import { examplesText } from "../examples.ts";
import { textOfFile } from "../named-file.ts";
import { openThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";

import { printDiagnostics, type Terminal } from "../terminal.ts";
import { nodeClasses } from "./class-resources.ts";
import { diffLines } from "./diff-text.ts";
import { rootNamed, rootNames } from "./root-named.ts";

interface Options {
  readonly store?: string;
  readonly edit?: string;
  readonly root: string;
  readonly json?: boolean;
}

const maxClasses = 4;
const maxResources = 40;

/** `portolan impact FILE`: what is made from it, or what an edit of it would change. */
export function registerImpact(program: Command, terminal: Terminal): void {
  program
    .command("impact <file>")
    .description("Lists the classes of proxies and the resources that a file, or an edit of it, touches.")
    .addOption(storeOption())
    .option("--edit <path>", "the edited file; then only what the edit would change is listed")
    .option("--root <name>", "which root", "SERVED")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `\nName a file by its path in diagnostics or by the end of that path, or an object as KIND/NAMESPACE/NAME: VirtualService/bookshop/reviews.\n${rootNames}\n${examplesText(
        [
          "impact reviews.yaml",
          "impact samples/bookshop/reviews.yaml --edit samples/bookshop/reviews.yaml",
          "impact VirtualService/bookshop/reviews --json",
        ],
      )}`,
    )
    .action(async (file: string, { store: where, edit, root: rootName, json }: Options) => {
      const store = await openThere(where, terminal.progress);
      const reader = createSnapshotReader(store);
      const root = await rootNamed(store, rootName, reader);
      const loaded = await reader.root(root);
      const shards = await shardsOfRoot(store, loaded.root.sources);
      const sources = objectsOfShards(shards);
      const named = fileNamed(shards, sources, file);
      if (edit === undefined) {
        return tellMade(terminal, reader, loaded, { ...named, sources }, json === true);
      }
      if (named.kind === "object")
        throw new PortolanError("--edit needs a file: name the file that contains the object");
      const edited = await editedShards(store, shards, named, await textOfFile(edit));
      const compile = createShardCompiler(worldOptionsOf(await settleSettings(store, {}), defaultWorldOptions));
      const { value, diagnostics } = compile(edited);
      printDiagnostics(terminal, errorsOf(diagnostics));
      const diff = diffWorlds(await loadWorldLike(reader, root, value), value);
      if (json === true) terminal.out(JSON.stringify({ root, file: named.file, ...diff }, undefined, 2));
      else for (const line of diffLines(diff, locationsIn(sources))) terminal.out(line);
      const refused = errorsOf(diagnostics).filter(({ origin }) => origin.file === named.file);
      if (refused.length > 0)
        throw new PortolanError(
          `${counted(refused.length, "error")} in what ${named.file} would say; what is refused changes nothing`,
        );
    });
}

type Named =
  | { readonly kind: "file"; readonly file: string; readonly shard: string; readonly objects: readonly RootObject[] }
  | { readonly kind: "object"; readonly file: string; readonly objects: readonly RootObject[] };

/** Files that say something about the mesh as a whole, and hold no objects. */
const settingsFiles = new Set(["mesh.yaml", "networks.yaml", "portolan.yaml"]);

/** @throws PortolanError with the nearest names where there is no such file */
function fileNamed(shards: readonly Shard[], { all }: RootObjects, written: string): Named {
  const object = all.find(({ key }) => key === written);
  if (object !== undefined) return { kind: "object", file: object.file, objects: [object] };
  const files = shards.flatMap((shard, i) => {
    const texts = contentsOf(shard).flatMap((content) => (isCollected(content) ? [] : textsOfShard(content).files));
    const names = new Set(texts.map(({ file }) => file));
    return [...names].map((file) => ({ file: filePrefixOf(shard.name, i === 0) + file, shard: shard.name }));
  });
  const wanted = written.replace(/^\.\//, "");
  const exact = files.filter(({ file }) => file === wanted);
  const found = exact.length > 0 ? exact : files.filter(({ file }) => wanted.endsWith(`/${file}`));
  // Of several that a path ends with, the longest says most.
  const [first] = found.toSorted((a, b) => b.file.length - a.file.length);
  if (first !== undefined) {
    const objects = all.filter(({ file }) => file === first.file).sort((a, b) => a.line - b.line);
    return { kind: "file", ...first, objects };
  }
  const known = [...files.map(({ file }) => file), ...all.map(({ key }) => key)];
  throw new PortolanError(`no source has a file or an object "${written.slice(0, 200)}"${meantText(wanted, known)}`);
}

async function tellMade(
  terminal: Terminal,
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { file, objects, sources }: Named & { readonly sources: RootObjects },
  isJson: boolean,
): Promise<void> {
  const services = servicesBehind(objects, sources);
  const resources = await touchedBy(reader, loaded, new Set(objects.map(({ key }) => key)), services);
  const nodes = new Map<string, string[]>();
  for (const [node, id] of await nodeClasses(reader, loaded)) {
    if (!node.includes("/")) nodes.set(id, [...(nodes.get(id) ?? []), node]);
  }
  const touched = [...new Set(resources.flatMap(({ classes }) => classes))].sort();
  const classes = touched.map((id) => ({ id, nodes: nodes.get(id) ?? [] }));
  const places = objects.map((object) => ({ object: object.key, at: sources.placeOf(object, []) }));
  if (isJson)
    return terminal.out(JSON.stringify({ root: loaded.hash, file, objects: places, classes, resources }, undefined, 2));
  const { colours } = terminal;
  for (const { object, at } of places) terminal.out(`${colours.green(at)} ${object}`);
  if (settingsFiles.has(file))
    terminal.out(
      "settings of the whole mesh: every resource may depend on them; --edit shows what an edit would change",
    );
  const lines = resourceLines(resources, colours);
  for (const line of lines.slice(0, maxResources)) terminal.out(line);
  if (lines.length > maxResources) terminal.out(`and ${lines.length - maxResources} more; --json lists all`);
  const all = loaded.classes.size;
  const none = resources.length === 0 ? "; --edit shows what an edit would change all the same" : "";
  terminal.out(`${counted(lines.length, "resource")}, in ${classes.length} of ${all} classes of proxies${none}`);
}

function resourceLines(resources: readonly TouchedResource[], colours: Terminal["colours"]): readonly string[] {
  // Both shapes of a resource are one to a reader.
  const once = new Map<string, { readonly resource: TouchedResource; readonly classes: Set<string> }>();
  for (const resource of resources) {
    const key = `${resource.type} ${resource.name}`;
    const entry = once.get(key) ?? { resource, classes: new Set() };
    once.set(key, entry);
    for (const id of resource.classes) entry.classes.add(id);
  }
  return [...once.values()].map(({ resource: { type, name, from }, classes }) => {
    const ids = [...classes].sort();
    const more = ids.length > maxClasses ? ` and ${ids.length - maxClasses} more` : "";
    return `${type} ${colours.bold(name)} ${colours.dim(`(${ids.slice(0, maxClasses).join(", ")}${more})`)} from ${from.join(", ")}`;
  });
}

/** What a source is read from: its configuration, and its registry where that is of another version. */
const contentsOf = (shard: Shard): readonly ShardContent[] =>
  isHeld(shard) ? [shard.held.content, shard.newest] : [shard];

/** The shards as they would be with another text of one file; an object that breaks keeps its last valid form. */
async function editedShards(
  store: ObjectStore,
  shards: readonly Shard[],
  { file, shard: name }: Extract<Named, { kind: "file" }>,
  text: string,
): Promise<readonly Shard[]> {
  const own = name === shards[0]?.name ? file : file.slice(name.length + 1);
  const edited = (content: ShardContent) => editedContent(store, content, own, text);
  return Promise.all(
    shards.map(async (one) => {
      if (one.name !== name) return one;
      if (!isHeld(one)) return edited(one);
      const [content, newest] = [await edited(one.held.content), await edited(one.newest)];
      return { ...one, version: newest.version, newest, held: { version: content.version, content } };
    }),
  );
}

/** A version of a source with another text of a file, where it has that. */
async function editedContent(
  store: ObjectStore,
  content: ShardContent,
  file: string,
  text: string,
): Promise<ShardContent> {
  if (isCollected(content)) return content;
  const { name, version } = content;
  const over = overlayStore(store);
  const applied = file.startsWith("applied:");
  const bare = applied ? file.slice("applied:".length) : file;
  const part = content.files.filter((one) => (one.applied === true) === applied);
  if (!part.some((one) => one.file === bare)) return content;
  const files = part.map((one) => (one.file === bare ? { file: bare, text } : one));
  // An earlier root is edited as it was: what the source says since has no part in it.
  const keys = { present: listKey(name), kept: versionKey(name, version) };
  const list = await versionText(store, keys, version);
  if (list !== undefined) await over.put(listKey(name), list.bytes);
  await writeShard(over, name, files, { part: applied ? "applied" : "folder", allowEmpty: true });
  return (await readShard(over, name)) ?? content;
}
