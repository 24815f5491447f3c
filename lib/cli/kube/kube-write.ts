import { byCodePoint, type ConfigKey, keyText, PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import { toObject } from "../../config/object-json.ts";
import { isSecret } from "../../config/secrets/secret-objects.ts";
import { groupVersion } from "../../config/values/group-version.ts";
import { sameValue } from "../../registry/changes/same.ts";
import { type ApiAnswer, type ApiFailure, send } from "../../registry/kubernetes/api/client.ts";
import { type InputOptions, wholeInput } from "../config/config-input.ts";
import type { Terminal } from "../terminal.ts";
import { connectKube, type KubeConnection } from "./kube-connection.ts";
import { UnreachableCluster } from "./one-shot-client.ts";

/** An object on its way to a server. */
export interface WrittenObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface KubeWriteOptions extends InputOptions {
  readonly kube: string;
  readonly dryRun?: boolean;
}

/**
 * Writes the objects of files into a live cluster: configuration validated and in today's form, Kubernetes' own as they stand,
 * Namespaces first. Secrets are left out.
 *
 * @param condition `absent`: nothing may be there; `present`: everything has to be, and is replaced as it was read a moment ago; absent: a
 *   server-side apply, which leaves the fields of others as they are
 * @throws PortolanError when something was refused, the others being written; UnreachableCluster as soon as it is
 */
export async function writeToCluster(
  options: KubeWriteOptions,
  verb: string,
  condition: "absent" | "present" | undefined,
  terminal: Terminal,
): Promise<void> {
  const objects = inOrder(await objectsIn(options, terminal, verb));
  const connection = await connectKube(options.kube);
  let refused = 0;
  for (const object of objects) {
    const done = await writeObject(connection, object, condition, options).catch((cause: unknown) => {
      if (!(cause instanceof PortolanError) || cause instanceof UnreachableCluster) throw cause;
      return { refusal: cause.message };
    });
    if ("refusal" in done) {
      refused += 1;
      terminal.err(`${nameOf(object)}: ${done.refusal}`);
    } else terminal.out(done.text + (options.dryRun === true ? " (dry run)" : ""));
  }
  if (refused === 0) return;
  throw new PortolanError(`${refused} of ${objects.length} objects were refused by ${connection.context}`);
}

/** Keys of what `apply --kube` would write of files, Namespaces last. @throws as `wholeInput` */
export async function keysInFiles(options: InputOptions, terminal: Terminal): Promise<readonly ConfigKey[]> {
  const objects = inOrder(await objectsIn(options, terminal, "delete"));
  const namespaces = objects.filter(isNamespace);
  return [...objects.filter((object) => !isNamespace(object)), ...namespaces].map(keyOfObject);
}

async function objectsIn(options: InputOptions, terminal: Terminal, verb: string): Promise<readonly WrittenObject[]> {
  const { configs, objects, others } = await wholeInput(options, terminal, verb);
  const secrets = objects.filter(isSecret);
  for (const { origin } of secrets)
    terminal.err(`left out: Secret ${origin.key.name}; what it holds is not read: \`kubectl ${verb}\` takes it`);
  const plain = [...objects.filter((object) => !isSecret(object)), ...others];
  return [
    ...configs.map((config) => ({ ...toObject(config, false), spec: fieldsOf(config.spec) })),
    ...plain.map(({ origin: _origin, ...object }) => object),
  ];
}

const isNamespace = ({ kind, apiVersion }: WrittenObject): boolean => kind === "Namespace" && apiVersion === "v1";

function inOrder(objects: readonly WrittenObject[]): readonly WrittenObject[] {
  return [...objects].sort(
    (a, b) => Number(isNamespace(b)) - Number(isNamespace(a)) || byCodePoint(nameOf(a), nameOf(b)),
  );
}

const keyOfObject = ({ apiVersion, kind, metadata: { name, namespace = "" } }: WrittenObject): ConfigKey => ({
  group: groupVersion(apiVersion).group,
  kind,
  name,
  namespace,
});

/** An object in messages: its kind, namespace and name. */
function nameOf(object: WrittenObject): string {
  const key = keyOfObject(object);
  const text = keyText(key);
  return key.namespace === "" ? text.replace("//", "/") : text;
}

type Written =
  | { readonly action: "created" | "updated" | "unchanged"; readonly text: string }
  | { readonly refusal: string };

/** Who the fields are, for the server: it takes away those that the next apply leaves out. */
const manager = "fieldManager=portolan";

/** @param condition as of `writeToCluster` */
export async function writeObject(
  connection: KubeConnection,
  object: WrittenObject,
  condition: "absent" | "present" | undefined,
  { dryRun = false }: Pick<KubeWriteOptions, "dryRun">,
): Promise<Written> {
  const { client } = connection;
  const { group, version } = groupVersion(object.apiVersion);
  const place = await connection.find(group, object.kind, version);
  if (place === undefined) return { refusal: `the cluster has no such kind: install its definition first` };
  const namespace = place.isNamespaced ? (object.metadata.namespace ?? connection.namespace) : "";
  const collection = place.path(namespace);
  const path = `${collection}/${object.metadata.name}`;
  const ask = `?${manager}${dryRun ? "&dryRun=All" : ""}`;
  const metadata = writtenMetadata(object, namespace);
  const body = { ...object, apiVersion: place.apiVersion, metadata };
  const there = condition === "absent" ? undefined : await current(connection, path);
  if (there === undefined && condition === "present") return { refusal: "does not exist" };
  const before = there === undefined ? undefined : fieldsOf(there.metadata);
  let answer: ApiAnswer;
  if (condition === undefined) {
    const contentType = "application/apply-patch+yaml";
    answer = await send(client, `${path}${ask}&force=true`, { method: "PATCH", body, contentType });
  } else if (before === undefined) answer = await send(client, collection + ask, { method: "POST", body });
  else {
    const { resourceVersion } = before;
    const replacement = { ...body, metadata: { ...metadata, resourceVersion } };
    answer = await send(client, path + ask, { method: "PUT", body: replacement });
  }
  if ("failure" in answer) return { refusal: writeRefusal(answer.failure, namespace) };
  const written = fieldsOf(await answer.response.json());
  const isUnchanged = there !== undefined && sameValue(content(there), content(written));
  const revision = dryRun ? "" : textOf(fieldsOf(written.metadata).resourceVersion);
  const name = nameOf(object);
  if (there === undefined)
    return { action: "created", text: `Created ${name}${revision && ` at revision ${revision}`}` };
  if (isUnchanged) return { action: "unchanged", text: `Unchanged ${name}` };
  return { action: "updated", text: `Updated ${name}${revision && ` to revision ${revision}`}` };
}

/** What a file says of an object that servers set, as in what `kubectl get -o yaml` printed, is not wished for. */
function writtenMetadata({ metadata }: WrittenObject, namespace: string): Fields {
  const {
    managedFields: _m,
    resourceVersion: _r,
    uid: _u,
    generation: _g,
    creationTimestamp: _c,
    ...wanted
  } = metadata;
  return { ...wanted, ...(namespace === "" ? {} : { namespace }) };
}

/** An object without what the server counts at every write. */
function content({ metadata, ...fields }: Fields): Fields {
  const { managedFields: _m, resourceVersion: _r, generation: _g, ...kept } = fieldsOf(metadata);
  return { ...fields, metadata: kept };
}

/** An object as it is; undefined where there is none. */
export async function current({ client }: KubeConnection, path: string): Promise<Fields | undefined> {
  const answer = await send(client, path, {});
  if ("response" in answer) return fieldsOf(await answer.response.json());
  if (answer.failure.status === 404) return undefined;
  throw new PortolanError(refusalText(answer.failure));
}

/** Of a new object nothing but its namespace can be missing. */
function writeRefusal(failure: ApiFailure, namespace: string): string {
  if (failure.reason !== "NotFound" || namespace === "") return refusalText(failure);
  const hint = `have the files hold the Namespace too, or make it with \`kubectl create namespace ${namespace}\``;
  return failure.message.startsWith("namespaces ") ? `${failure.message}: ${hint}` : failure.message;
}

/** What a server says of an object that it does not take. */
export function refusalText({ status, reason, message }: ApiFailure): string {
  if (reason === "AlreadyExists") return "already exists";
  if (reason === "NotFound") return "does not exist";
  if (reason === "Conflict") return "was changed since it was read; nothing was written";
  return `${status} ${reason}: ${message}`;
}
