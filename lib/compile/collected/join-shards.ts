import { type Diagnostic, fileOrigin, kindText, type Origin } from "../../base/diagnostic.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { joinFolders } from "../../config/folder/join-folders.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import { type NamedShard, settingsSource } from "../shards/primary-source.ts";

/** What all sources say together. */
export interface JoinedShards {
  readonly content: LoadedDirectory;
  /** Id of the cluster that Kubernetes objects belong to which name none; absent where no cluster was collected. */
  readonly primaryCluster?: string;
  /** Services of Consul, of all its sources. */
  readonly consul: readonly ConsulListing[];
}

/**
 * Joins sources in their order. The first collected cluster is the primary: its objects stand beside those of folders, and its
 * configuration counts; of the others only what runs there. Settings are those of the primary source; the mesh's are those of a cluster
 * where it has none.
 *
 * @param named sources in order, as a deployment names them; empty: it names none
 */
export function joinShards(shards: readonly NamedShard[], named: readonly string[]): JoinedShards {
  const first = shards.find(({ loaded }) => loaded.cluster !== undefined)?.loaded;
  const { primary, cluster, refused, isAmbiguous } = settingsSource(shards, named);
  const joined = joinFolders(
    shards.map(({ loaded: { cluster: id, content } }) => (id === first?.cluster ? content : asRemote(id, content))),
    primary?.loaded.content,
    (earlier, later, shared) => sameCluster(shards[earlier], shards[later], shared),
  );
  const consul = shards.flatMap(({ loaded }) => loaded.consul ?? []);
  const { meshConfig, meshNetworks, unusableSettings: theirs } = cluster?.loaded.content ?? joined;
  // Where the primary source has no settings those of the cluster count, and so do their errors.
  const areTheirs = joined.unusableSettings === undefined && joined.meshConfig === defaultMeshConfig;
  const unusable = [...((areTheirs ? theirs : joined.unusableSettings) ?? []), ...(isAmbiguous ? refused : [])];
  const isJoined = unusable.length === (joined.unusableSettings?.length ?? 0) && refused.length === 0;
  const content: LoadedDirectory = {
    ...joined,
    ...(unusable.length === 0 ? {} : { unusableSettings: unusable }),
    meshConfig: joined.meshConfig === defaultMeshConfig ? meshConfig : joined.meshConfig,
    meshNetworks: joined.meshNetworks === noMeshNetworks ? meshNetworks : joined.meshNetworks,
    diagnostics: refused.length === 0 ? joined.diagnostics : [...joined.diagnostics, ...refused],
  };
  return {
    content: isJoined && cluster === undefined ? joined : content,
    ...(first?.cluster === undefined ? {} : { primaryCluster: first.cluster }),
    consul,
  };
}

/** Two sources that collect one cluster share all of its objects, which is one fault and not one for each. */
function sameCluster(
  earlier: NamedShard | undefined,
  later: NamedShard | undefined,
  shared: readonly Origin[],
): Diagnostic | undefined {
  if (earlier?.loaded.cluster === undefined || later?.loaded.cluster === undefined) return undefined;
  const names = shared.slice(0, maxNamed).map(({ key }) => `${kindText(key)} ${key.namespace}/${key.name}`);
  const more = shared.length > maxNamed ? ` and ${shared.length - maxNamed} more` : "";
  const what = shared.length === 1 ? "1 object" : `${shared.length} objects`;
  return {
    code: "duplicate-object",
    severity: "warning",
    origin: fileOrigin(`source ${later.name}`),
    path: [],
    message: `has ${what} that the source ${earlier.name} has, too: ${names.join(", ")}${more}; those of ${later.name} count`,
    hint: `both are of the cluster ${later.loaded.cluster}: stop the collector of one and delete "sources/${later.name}/" or "sources/${earlier.name}/" in the store; two clusters need ids of their own (--cluster)`,
  };
}

/** Objects that are named. */
const maxNamed = 3;

function asRemote(id: string | undefined, content: LoadedDirectory): LoadedDirectory {
  if (id === undefined) return content;
  return {
    ...content,
    configs: [],
    objects: [],
    others: [],
    closed: [],
    clusters: [{ id, objects: content.objects }],
    meshConfig: defaultMeshConfig,
    meshNetworks: noMeshNetworks,
    // Only configuration and settings have any.
    diagnostics: [],
  };
}
