import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import { send } from "../../registry/kubernetes/api/client.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import { refusalText } from "../kube/kube-write.ts";
import { counted } from "../numbers.ts";
import {
  applyObject,
  deleteOwn,
  inventoryObject,
  isOwn,
  labelled,
  nameText,
  type ObjectName,
  objectName,
  readInventory,
  readObject,
} from "./cluster-objects.ts";
import { installObjects } from "./install-objects.ts";
import { type Installation, nameOf } from "./install-options.ts";
import { missingSecrets } from "./install-secrets.ts";

/** What was done, or would be. */
export interface Change {
  readonly object: ObjectName;
  readonly action: "created" | "updated" | "unchanged" | "deleted" | "left";
}

export interface Writing {
  readonly connection: KubeConnection;
  readonly dryRun: boolean;
  /** Is called with each change as it is made. */
  readonly onChange: (change: Change) => void;
}

export interface Applying extends Writing {
  readonly secretsKey: string | undefined;
  /** Whether a Service `istiod` of others is replaced. Its form is kept for `uninstallFrom`. */
  readonly takesIstiod: boolean;
}

const namespaceKind = "Namespace";

/**
 * Makes a cluster have an installation as its options say: applies every object, then deletes what earlier options had besides.
 *
 * @throws PortolanError before anything is written where an object of others has a name that is needed, or a Secret lacks something;
 *   and when an object is refused: another call goes on from there
 */
export async function installInto(of: Installation, applying: Applying): Promise<void> {
  const { connection, dryRun, onChange, secretsKey, takesIstiod } = applying;
  const installation = nameOf(of);
  const objects = installObjects(of);
  const there = new Map<Fields, Fields | undefined>();
  const inventory = inventoryObject(of, []);
  for (const object of [...objects, inventory]) there.set(object, await readObject(connection, objectName(object)));
  const foreign = [...objects, inventory].filter((object) => {
    const found = there.get(object);
    return found !== undefined && !isOwn(found, installation);
  });
  const taken = foreign.filter((object) => takesIstiod && isIstiod(object));
  refuseForeign(foreign.filter((object) => object.kind !== namespaceKind && !taken.includes(object)));
  const secrets = await missingSecrets(connection, of, secretsKey);

  const before = (await readInventory(connection, of)) ?? [];
  const names = objects.filter(({ kind }) => kind !== namespaceKind).map(objectName);
  const texts = new Set(names.map(nameText));
  const gone = before.filter((name) => !texts.has(nameText(name)));
  const newNamespaces = new Set(
    objects.filter((object) => object.kind === namespaceKind && !there.get(object)).map((one) => objectName(one).name),
  );
  const write = async (object: Fields): Promise<void> => {
    const name = objectName(object);
    // Nothing can be asked about in a namespace that a dry run has not made.
    const isUnasked = dryRun && newNamespaces.has(name.namespace);
    const action = isUnasked ? "created" : await applyObject(connection, labelled(object, installation), dryRun);
    onChange({ object: name, action });
  };

  for (const object of objects) {
    if (object.kind !== namespaceKind) continue;
    if (foreign.includes(object)) onChange({ object: objectName(object), action: "left" });
    else await write(object);
  }
  // Everything is in the inventory before it is in the cluster, so that an installation that was cut off can be taken away.
  await write(inventoryObject(of, [...names, ...gone]));
  for (const secret of secrets) await write(secret);
  for (const object of objects) {
    if (object.kind === namespaceKind) continue;
    if (taken.includes(object)) await replaceIstiod(connection, object, there.get(object), installation, dryRun);
    await write(withFormer(object, there.get(object)));
  }
  for (const name of gone)
    if (await deleteOwn(connection, name, installation, dryRun)) onChange({ object: name, action: "deleted" });
  if (gone.length > 0) await write(inventoryObject(of, names));
}

function refuseForeign(objects: readonly Fields[]): void {
  if (objects.length === 0) return;
  const names = objects.map((object) => nameText(objectName(object)));
  const hint = objects.some(isIstiod)
    ? "; --take-istiod replaces the Service istiod and keeps its form, and --revision chooses other names"
    : "; delete them, or choose other names with --revision or --namespace";
  throw new PortolanError(
    `${counted(objects.length, "object")} of others with names that are needed: ${names.join(", ")}. Nothing was written${hint}`,
  );
}

const isIstiod = ({ kind, metadata }: Fields): boolean =>
  kind === "Service" && textOf(fieldsOf(metadata).name).startsWith("istiod");

/** Annotation of the Service `istiod` with the one that it has replaced, as JSON. */
const formerAnnotation = "portolan.dev/former";

/** An object with the former one that it has been given once. */
function withFormer(object: Fields, found: Fields | undefined): Fields {
  if (!isIstiod(object) || found === undefined) return object;
  const { annotations } = fieldsOf(found.metadata);
  const former = fieldsOf(annotations)[formerAnnotation] ?? (isTaken(found) ? undefined : formOf(found));
  if (former === undefined) return object;
  return { ...object, metadata: { ...fieldsOf(object.metadata), annotations: { [formerAnnotation]: former } } };
}

const isTaken = (found: Fields): boolean => "portolan.dev/installation" in fieldsOf(fieldsOf(found.metadata).labels);

/** What is needed to make a Service again. */
function formOf({ apiVersion, kind, metadata, spec }: Fields): string {
  const { name, namespace, labels, annotations } = fieldsOf(metadata);
  const { clusterIP: _ip, clusterIPs: _ips, ...kept } = fieldsOf(spec);
  return JSON.stringify({ apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec: kept });
}

/** At once, so that the name never leads nowhere. A server-side apply would leave fields of the former one. */
async function replaceIstiod(
  connection: KubeConnection,
  object: Fields,
  found: Fields | undefined,
  installation: string,
  dryRun: boolean,
): Promise<void> {
  await putObject(connection, labelled(withFormer(object, found), installation), found, dryRun);
}

async function putObject(
  connection: KubeConnection,
  object: Fields,
  found: Fields | undefined,
  dryRun: boolean,
): Promise<void> {
  const { resourceVersion } = fieldsOf(found?.metadata);
  const body = { ...object, metadata: { ...fieldsOf(object.metadata), resourceVersion } };
  const { namespace, name } = objectName(object);
  const path = `/api/v1/namespaces/${namespace}/services/${name}?fieldManager=portolan${dryRun ? "&dryRun=All" : ""}`;
  const answer = await send(connection.client, path, { method: "PUT", body });
  if ("failure" in answer) throw new PortolanError(`Service ${namespace}/${name}: ${refusalText(answer.failure)}`);
}

/**
 * Takes an installation away: what is in its inventory and has its label, the last that was applied first. Namespaces stay, and Secrets,
 * because the key to the CA is in them. A Service `istiod` that was replaced gets its former form.
 *
 * @throws PortolanError where there is no inventory
 */
export async function uninstallFrom(of: Installation, { connection, dryRun, onChange }: Writing): Promise<void> {
  const installation = nameOf(of);
  const names = await readInventory(connection, of);
  if (names === undefined)
    throw new PortolanError(
      `no installation ${installation} in namespace ${of.namespace} of ${connection.context}: it has no inventory`,
    );
  for (const name of names.toReversed()) {
    const found = name.kind === "Service" ? await readObject(connection, name) : undefined;
    const former = fieldsOf(fieldsOf(found?.metadata).annotations)[formerAnnotation];
    if (found !== undefined && isOwn(found, installation) && former !== undefined) {
      await putObject(connection, fieldsOf(JSON.parse(textOf(former))), found, dryRun);
      onChange({ object: name, action: "updated" });
    } else {
      const isDeleted = await deleteOwn(connection, name, installation, dryRun);
      onChange({ object: name, action: isDeleted ? "deleted" : "left" });
    }
  }
  const inventory = objectName(inventoryObject(of, []));
  if (await deleteOwn(connection, inventory, installation, dryRun)) onChange({ object: inventory, action: "deleted" });
}
