import { PortolanError } from "../../base/diagnostic.ts";
import { createCollectedLoader } from "../../compile/collected/load-collected.ts";
import { readSource } from "../../compile/shards/read-source.ts";
import { createSourcesReader } from "../../compile/shards/read-sources.ts";
import { isCollected, isHeld, type Shard } from "../../compile/shards/shard.ts";
import { contentOfShard, nameOf } from "../../compile/shards/source-shard.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import { type LoadedDirectory, readFiles } from "../../config/folder/directory.ts";
import { groupVersion } from "../../config/values/group-version.ts";
import { type ShownObject, shownConfig } from "./config-print.ts";
import type { ConfigTarget } from "./config-target.ts";
import { refuseUnknownSource } from "./known-source.ts";

/**
 * What the sources of a store hold: what was applied, and what folders brought with `push` or `dev`.
 *
 * @param source this one only; absent: all
 * @param options.served whether an object that is refused is there in its last valid form, as it is served
 * @throws PortolanError for a source that the store does not have
 */
export async function objectsOf(
  place: ConfigTarget,
  source: string | undefined,
  { served = false }: { readonly served?: boolean } = {},
): Promise<readonly ShownObject[]> {
  const applied = (await place.configs.listAtVersion(await place.configs.version())).map((config) =>
    shownConfig(place.source, config),
  );
  // A compile function refuses those that it does not take.
  if (place.isRemote) return applied;
  if (source !== undefined) await refuseUnknownSource(place.objects, source);
  const shards =
    source === undefined
      ? await createSourcesReader(place.objects)([])
      : [await readSource(place.objects, source)].filter((shard) => shard !== undefined);
  const folders = shards.flatMap((shard) => {
    const { name } = shard;
    const read = contentOf(shard, place.source, served);
    return [
      ...read.configs.map((config) => shownConfig(name, config)),
      ...[...read.objects, ...read.others].map((object) => shownParsed(name, object)),
    ];
  });
  return [...applied, ...folders];
}

/** @param applied the source whose applied objects are listed by themselves, with their revisions */
function contentOf(found: Shard, applied: string, served: boolean): LoadedDirectory {
  const shard = isHeld(found) ? found.newest : found;
  if (isCollected(shard)) return createCollectedLoader()(shard).content;
  const files = shard.files.filter((file) => file.applied !== true || shard.name !== applied);
  if (!served) return readFiles(files);
  const inFolder = new Set(files.map(nameOf));
  return contentOfShard({ files, kept: (shard.kept ?? []).filter(({ file }) => inFolder.has(file)) }, "");
}

/** What was applied, as it was at a revision. @throws PortolanError when the store has no such one */
export async function objectsAt(place: ConfigTarget, revision: number): Promise<readonly ShownObject[]> {
  const commits = await place.configs.ledger.history(Number.POSITIVE_INFINITY);
  const commit = commits.find((one) => one.revision === revision);
  if (commit === undefined) throw new PortolanError(`the store has no revision ${revision}`);
  return (await place.configs.listAtVersion(commit.root)).map((config) => shownConfig(place.source, config));
}

/** What somebody looks for. */
interface SoughtObject {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** What to do about an object that is not where it is looked for: where there is one of its name, else how to see what there is. */
export function whereElse(all: readonly ShownObject[], { group, kind, name }: SoughtObject): string {
  const alike = all.filter((one) => one.kind === kind && one.group === group && one.name === name);
  const others = [...new Set(alike.map((one) => one.namespace || "default"))];
  if (others.length > 0) return `there is one in ${others.join(", ")}: -n ${others[0]}`;
  return `\`portolan get ${kind.toLowerCase()}\` lists those that are`;
}

export function shownParsed(source: string, { origin: _origin, ...object }: ParsedObject): ShownObject {
  const { group, version } = groupVersion(object.apiVersion);
  const { name, namespace = "" } = object.metadata;
  return { source, group, version, kind: object.kind, namespace, name, revision: "", object };
}
