import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { joinFolders } from "../../config/folder/join-folders.ts";
import { defaultMeshConfig } from "../../config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import type { LoadedShard } from "./load-collected.ts";

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
 * configuration counts; of the others only what runs there. Its mesh settings count where the first source has none.
 */
export function joinShards(shards: readonly LoadedShard[]): JoinedShards {
  const primary = shards.find(({ cluster }) => cluster !== undefined);
  const joined = joinFolders(
    shards.map(({ cluster, content }) => (cluster === primary?.cluster ? content : asRemote(cluster, content))),
  );
  const consul = shards.flatMap((shard) => shard.consul ?? []);
  if (primary?.cluster === undefined) return { content: joined, consul };
  const { meshConfig, meshNetworks } = primary.content;
  // Where the first source has no settings those of the cluster count, and so do their errors.
  const areTheirs = joined.unusableSettings === undefined && joined.meshConfig === defaultMeshConfig;
  const unusableSettings = areTheirs ? primary.content.unusableSettings : joined.unusableSettings;
  return {
    content: {
      ...joined,
      ...(unusableSettings === undefined ? {} : { unusableSettings }),
      meshConfig: joined.meshConfig === defaultMeshConfig ? meshConfig : joined.meshConfig,
      meshNetworks: joined.meshNetworks === noMeshNetworks ? meshNetworks : joined.meshNetworks,
    },
    primaryCluster: primary.cluster,
    consul,
  };
}

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
