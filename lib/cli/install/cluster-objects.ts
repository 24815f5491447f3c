import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { groupVersion } from "../../config/values/group-version.ts";
import { send } from "../../registry/kubernetes/api/client.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import { current, refusalText, type WrittenObject, writeObject } from "../kube/kube-write.ts";
import { type Installation, nameOf } from "./install-options.ts";

/** Label of every object of an installation, with its name. What does not have it is never changed or deleted. */
const installationLabel = "portolan.dev/installation";

/** What names an object in the inventory. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export const objectName = ({ apiVersion, kind, metadata }: Fields): ObjectName => {
  const { namespace, name } = fieldsOf(metadata);
  return { apiVersion: textOf(apiVersion), kind: textOf(kind), namespace: textOf(namespace), name: textOf(name) };
};

export const nameText = ({ kind, namespace, name }: ObjectName): string =>
  `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;

/** An object as it is applied: with the label of its installation. */
export function labelled(object: Fields, installation: string): WrittenObject {
  const { apiVersion, kind, namespace, name } = objectName(object);
  const metadata = fieldsOf(object.metadata);
  return {
    ...object,
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      name,
      ...(namespace === "" ? {} : { namespace }),
      labels: { ...stringsOf(metadata.labels), [installationLabel]: installation },
    },
  };
}

export const isOwn = (object: Fields, installation: string): boolean =>
  stringsOf(fieldsOf(object.metadata).labels)[installationLabel] === installation;

/** Path of an object; undefined where the cluster has no such kind. */
async function pathOf(connection: KubeConnection, object: ObjectName): Promise<string | undefined> {
  const { group, version } = groupVersion(object.apiVersion);
  const place = await connection.find(group, object.kind, version);
  return place === undefined ? undefined : `${place.path(object.namespace)}/${object.name}`;
}

/** An object as it is in the cluster; undefined where there is none. */
export async function readObject(connection: KubeConnection, object: ObjectName): Promise<Fields | undefined> {
  const path = await pathOf(connection, object);
  return path === undefined ? undefined : current(connection, path);
}

/** @throws PortolanError when it is refused */
export async function applyObject(
  connection: KubeConnection,
  object: WrittenObject,
  dryRun: boolean,
): Promise<"created" | "updated" | "unchanged"> {
  const done = await writeObject(connection, object, undefined, { dryRun });
  if ("refusal" in done) throw new PortolanError(`${nameText(objectName(object))}: ${done.refusal}`);
  return done.action;
}

/** Deletes an object of the installation. @returns false where there is none, or it is not the installation's */
export async function deleteOwn(
  connection: KubeConnection,
  object: ObjectName,
  installation: string,
  dryRun: boolean,
): Promise<boolean> {
  const [path, found] = [await pathOf(connection, object), await readObject(connection, object)];
  if (path === undefined || found === undefined || !isOwn(found, installation)) return false;
  const { uid } = fieldsOf(found.metadata);
  // With a body, the API server does not look at `dryRun` of the query.
  const body = { preconditions: { uid }, propagationPolicy: "Background", ...(dryRun ? { dryRun: ["All"] } : {}) };
  const answer = await send(connection.client, path, { method: "DELETE", body });
  if ("failure" in answer && answer.failure.status !== 404)
    throw new PortolanError(`${nameText(object)}: ${refusalText(answer.failure)}`);
  return true;
}

/** The names of everything that an installation has applied, so that what it has no more can be deleted. */
export const inventoryObject = (of: Installation, objects: readonly ObjectName[]): Fields => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `${nameOf(of)}-inventory`, namespace: of.namespace },
  data: { objects: JSON.stringify(objects) },
});

/** @returns undefined where there is no inventory of this installation */
export async function readInventory(
  connection: KubeConnection,
  of: Installation,
): Promise<readonly ObjectName[] | undefined> {
  const found = await readObject(connection, objectName(inventoryObject(of, [])));
  if (found === undefined || !isOwn(found, nameOf(of))) return undefined;
  return listOf(JSON.parse(textOf(fieldsOf(found.data).objects)))
    .map(fieldsOf)
    .map(({ apiVersion, kind, namespace, name }) => ({
      apiVersion: textOf(apiVersion),
      kind: textOf(kind),
      namespace: textOf(namespace),
      name: textOf(name),
    }));
}
