import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import { type LoadedDirectory, meshFile, networksFile, settingsFile } from "../../config/folder/directory.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { resolvedSource } from "../../config/kinds/resolved-facts.ts";
import type { FolderSettings } from "../../config/kinds/stated-endpoints.ts";
import type { LoadedShard } from "../collected/load-collected.ts";
import { filePrefixOf } from "./source-names.ts";

/** The source that comes first where none is named. */
export const usualPrimary = "main";

/** A source, with what it says. */
export interface NamedShard {
  readonly name: string;
  readonly loaded: LoadedShard;
}

/** Whose settings count. */
export interface SettingsOf {
  /** Its `portolan.yaml`, and its settings of the mesh; undefined: it is not filled. */
  readonly primary: NamedShard | undefined;
  /** The cluster whose settings of the mesh count where the primary source has none. */
  readonly cluster: NamedShard | undefined;
  /** Settings of other sources, each an error. */
  readonly refused: readonly Diagnostic[];
  /** No source is named, and several have settings: nothing may be published. */
  readonly isAmbiguous: boolean;
}

/**
 * The source whose settings count: the first one that is named; where none is named `main`, else the only source that there is. So a
 * source that comes later never decides by its name.
 *
 * @param sources that are filled
 * @param named in order, as a deployment names them; empty: it names none
 * @returns undefined where it is not known
 */
export function primaryOf(sources: readonly string[], named: readonly string[] = []): string | undefined {
  const written = sources.filter((name) => name !== resolvedSource);
  return named[0] ?? written.find((name) => name === usualPrimary) ?? (written.length === 1 ? written[0] : undefined);
}

/**
 * Chooses among sources those whose settings count.
 *
 * @param named as `primaryOf` takes it
 */
export function settingsSource(shards: readonly NamedShard[], named: readonly string[]): SettingsOf {
  const written = shards.filter(({ name }) => name !== resolvedSource);
  const known = primaryOf(
    written.map(({ name }) => name),
    named,
  );
  const primary = written.find(({ name }) => name === known);
  const clusters = written.filter(({ loaded }) => loaded.cluster !== undefined);
  const cluster = clusterOf(clusters, named);
  const wantsCluster = primary === undefined || !hasMeshSettings(primary.loaded.content);
  const isOpen = cluster === undefined && wantsCluster;
  const refused = written.flatMap((one) => {
    // Where one cluster's settings count the others are silent: each has a ConfigMap of its own.
    const isSilent = one === primary || (one.loaded.cluster !== undefined && !isOpen);
    return isSilent ? [] : refusedSettings(one, one === shards[0], primary?.name ?? known);
  });
  const isUnsettled = known === undefined || (isOpen && clusters.length > 0);
  return { primary, cluster, refused, isAmbiguous: isUnsettled && refused.length > 0 };
}

/** The first of the clusters that are named; the only one where none is. */
function clusterOf(clusters: readonly NamedShard[], named: readonly string[]): NamedShard | undefined {
  const first = named.flatMap((name) => clusters.find((one) => one.name === name) ?? [])[0];
  const ids = new Set(clusters.map(({ loaded }) => loaded.cluster));
  return first ?? (ids.size === 1 ? clusters[0] : undefined);
}

/** What a folder may say of itself alone, or of what it holds. */
const own: ReadonlySet<string> = new Set([
  "proxies",
  "resolved",
  "inlineSymmetricKeys",
] satisfies (keyof FolderSettings)[]);

/** Says of each settings file of a source that it does not count. */
function refusedSettings(
  { name, loaded: { content, cluster } }: NamedShard,
  isFirst: boolean,
  primary: string | undefined,
): readonly Diagnostic[] {
  const { meshConfig, meshNetworks, settings } = content;
  const fields = Object.entries(settings).flatMap(([field, value]) =>
    own.has(field) || (Array.isArray(value) && value.length === 0) ? [] : [field],
  );
  const files = [
    ...(meshConfig === defaultMeshConfig ? [] : [meshFile]),
    ...(meshNetworks === noMeshNetworks ? [] : [networksFile]),
    ...(fields.length === 0 ? [] : [settingsFile]),
  ];
  const isFolder = cluster === undefined;
  return files.map((file) => ({
    code: "settings-not-primary",
    severity: "error",
    origin: isFolder ? { ...fileOrigin(filePrefixOf(name, isFirst) + file), line: 1 } : fileOrigin(`source ${name}`),
    path: [],
    message: `${isFolder ? "" : `${file === networksFile ? "meshNetworks" : "mesh"} of the ConfigMap istio `}does not count, since ${reason(name, primary)}${file === settingsFile ? ` (${fields.join(", ")})` : ""}`,
    hint:
      `move the settings into the primary source, or name ${name} as the first of compile.sources (PORTOLAN_SOURCES, ` +
      `SOURCES of a Worker), or with \`portolan push --primary ${name}\``,
  }));
}

const reason = (name: string, primary: string | undefined): string =>
  primary === undefined
    ? "several sources are filled, and none is named as the primary one"
    : `${name} is not the primary source, which is ${primary}`;

/** Whether a source says something about the mesh as a whole, be it wrong. */
const hasMeshSettings = ({ meshConfig, meshNetworks, unusableSettings }: LoadedDirectory): boolean =>
  meshConfig !== defaultMeshConfig || meshNetworks !== noMeshNetworks || unusableSettings !== undefined;
