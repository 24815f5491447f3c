import { type ConfigKey, PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, stringsOf, textOf } from "../../base/untyped.ts";
import { createCollector } from "../../collect/collector.ts";
import { createCollectedReader } from "../../compile/collected/collected-shard.ts";
import { createCollectedLoader } from "../../compile/collected/load-collected.ts";
import { defaultWorldOptions } from "../../compile/world/world-of.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { groupVersion } from "../../config/values/group-version.ts";
import { send } from "../../registry/kubernetes/api/client.ts";
import type { ApiItem } from "../../registry/kubernetes/api/item.ts";
import { kubernetesOrigin } from "../../registry/kubernetes/api/kubernetes-origin.ts";
import { listItems } from "../../registry/kubernetes/api/list.ts";
import { defaultPace } from "../../registry/origin/retry.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { NamedObjects } from "../config/config-kind.ts";
import type { ShownObject } from "../config/config-print.ts";
import { connectKube } from "./kube-connection.ts";
import { refusalText } from "./kube-write.ts";

/** Everything that the mesh reads of a cluster, as a folder would say it. @throws PortolanError when a part cannot be read */
export async function clusterContent(option: string): Promise<LoadedDirectory> {
  const { client } = await connectKube(option);
  const store = memoryStore();
  const origin = kubernetesOrigin(client, { cluster: defaultWorldOptions.clusterId });
  await createCollector({ store, source: "cluster", origin }).once();
  const shard = await createCollectedReader(store, "cluster")();
  if (shard === undefined) throw new PortolanError("the cluster was not read");
  return createCollectedLoader()(shard).content;
}

/** The objects of some kinds, in all namespaces. @throws PortolanError for a kind that the cluster does not have */
export async function objectsInCluster(
  option: string,
  wanted: readonly NamedObjects[],
): Promise<readonly ShownObject[]> {
  const connection = await connectKube(option);
  const kinds = new Map(wanted.map(({ kind }) => [`${kind.group}/${kind.kind}`, kind]));
  const shown: ShownObject[] = [];
  for (const { group, kind } of kinds.values()) {
    const place = await connection.find(group, kind);
    if (place === undefined)
      throw new PortolanError(`${connection.context} has no ${kind}: its definition is not installed`);
    const resource = { path: place.path(""), apiVersion: place.apiVersion, kind };
    const keep = (item: ApiItem) => {
      shown.push(shownItem(connection.context, item));
      return undefined;
    };
    await listItems(connection.client, resource, { pace: defaultPace, keep });
  }
  return shown;
}

function shownItem(context: string, item: ApiItem): ShownObject {
  const { apiVersion, kind, metadata, status: _status, ...fields } = item;
  const { group, version } = groupVersion(apiVersion);
  const { name, namespace = "", resourceVersion = "" } = metadata;
  const { "kubectl.kubernetes.io/last-applied-configuration": _whole, ...annotations } = stringsOf(
    metadata.annotations,
  );
  const labels = stringsOf(metadata.labels);
  const createdMs = Date.parse(textOf(metadata.creationTimestamp));
  return {
    source: context,
    group,
    version,
    kind,
    namespace,
    name,
    revision: resourceVersion,
    ...(Number.isNaN(createdMs) ? {} : { createdMs }),
    object: {
      apiVersion,
      kind,
      metadata: {
        name,
        ...(namespace === "" ? {} : { namespace }),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        resourceVersion,
      },
      ...fieldsOf(fields),
    },
  };
}

/**
 * Deletes objects, one by one.
 *
 * @param deleted is told of each that is gone
 * @throws PortolanError when one was not there, or is refused; the others are gone
 */
export async function deleteFromCluster(
  option: string,
  keys: readonly ConfigKey[],
  deleted: (key: ConfigKey) => void,
): Promise<void> {
  const connection = await connectKube(option);
  const refused: string[] = [];
  for (const key of keys) {
    const place = await connection.find(key.group, key.kind);
    const namespace = key.namespace === "" ? connection.namespace : key.namespace;
    const path = place === undefined ? undefined : `${place.path(place.isNamespaced ? namespace : "")}/${key.name}`;
    const answer = path === undefined ? undefined : await send(connection.client, path, { method: "DELETE" });
    if (answer === undefined) refused.push(`${key.kind} ${key.name} does not exist: the cluster has no such kind`);
    else if ("failure" in answer) refused.push(`${key.kind} ${key.name} ${refusalText(answer.failure)}`);
    else deleted(key);
  }
  if (refused.length > 0) throw new PortolanError(refused.join("; "));
}
