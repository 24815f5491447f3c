import { byCodePoint, keyText, PortolanError } from "../../config/diagnostic.ts";
import { groupVersion } from "../../config/group-version.ts";
import { toObject } from "../../config/object-json.ts";
import { isSecret } from "../../config/secret-objects.ts";
import { fieldsOf, textOf } from "../../config/untyped.ts";
import { type ApiFailure, send } from "../../registry/kubernetes/api/client.ts";
import { type InputOptions, wholeInput } from "../config-input.ts";
import type { Terminal } from "../terminal.ts";
import { connectKube, type KubeConnection } from "./kube-connection.ts";

/** An object on its way to a server. */
interface WrittenObject {
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
 * Namespaces first. What is not there is made, what is there is replaced as it was read a moment ago. Secrets are left out.
 *
 * @param condition `absent`: nothing may be there, `present`: everything has to be
 * @throws PortolanError when something was refused; the others are written
 */
export async function writeToCluster(
  options: KubeWriteOptions,
  verb: string,
  condition: "absent" | "present" | undefined,
  terminal: Terminal,
): Promise<void> {
  const objects = inOrder(await objectsIn(options, terminal, verb));
  const connection = await connectKube(options.kube);
  const refused: string[] = [];
  for (const object of objects) {
    const done = await write(connection, object, condition, options).catch((cause: unknown) => {
      if (!(cause instanceof PortolanError)) throw cause;
      return { refusal: cause.message };
    });
    if ("refusal" in done) refused.push(`${nameOf(object)}: ${done.refusal}`);
    else terminal.out(done.text + (options.dryRun === true ? " (dry run)" : ""));
  }
  if (refused.length === 0) return;
  for (const line of refused) terminal.err(line);
  throw new PortolanError(`${refused.length} of ${objects.length} objects were refused by ${connection.context}`);
}

async function objectsIn(options: InputOptions, terminal: Terminal, verb: string): Promise<readonly WrittenObject[]> {
  const { configs, objects, others } = await wholeInput(options, terminal, verb);
  const secrets = objects.filter(isSecret);
  for (const { origin } of secrets)
    terminal.err(`left out: Secret ${origin.key.name}; what it holds is not read: \`kubectl apply\` takes it`);
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

function nameOf({ apiVersion, kind, metadata: { name, namespace = "" } }: WrittenObject): string {
  const text = keyText({ group: groupVersion(apiVersion).group, kind, name, namespace });
  return namespace === "" ? text.replace("//", "/") : text;
}

type Written = { readonly text: string } | { readonly refusal: string };

async function write(
  connection: KubeConnection,
  object: WrittenObject,
  condition: "absent" | "present" | undefined,
  { dryRun = false }: KubeWriteOptions,
): Promise<Written> {
  const { group, version } = groupVersion(object.apiVersion);
  const place = await connection.find(group, object.kind, version);
  if (place === undefined) return { refusal: `the cluster has no such kind: install its definition first` };
  const namespace = object.metadata.namespace ?? connection.namespace;
  const collection = place.path(place.isNamespaced ? namespace : "");
  const path = `${collection}/${object.metadata.name}`;
  const ask = dryRun ? "?dryRun=All" : "";
  const body = { ...object, apiVersion: place.apiVersion };
  const there = condition === "absent" ? undefined : await current(connection, path);
  if (there === undefined) {
    if (condition === "present") return { refusal: "does not exist" };
    const made = await send(connection.client, collection + ask, { method: "POST", body });
    if ("failure" in made) return { refusal: refusalText(made.failure) };
    return { text: `Created ${nameOf(object)} at revision ${await revisionOf(made.response)}` };
  }
  const metadata = { ...object.metadata, resourceVersion: there };
  const replaced = await send(connection.client, path + ask, { method: "PUT", body: { ...body, metadata } });
  if ("failure" in replaced) return { refusal: refusalText(replaced.failure) };
  const revision = await revisionOf(replaced.response);
  const text = revision === there ? `Unchanged ${nameOf(object)}` : `Updated ${nameOf(object)} to revision ${revision}`;
  return { text };
}

/** The resourceVersion of an object; undefined where there is none. */
async function current({ client }: KubeConnection, path: string): Promise<string | undefined> {
  const answer = await send(client, path, {});
  if ("response" in answer) return revisionOf(answer.response);
  if (answer.failure.status === 404) return undefined;
  throw new PortolanError(refusalText(answer.failure));
}

const revisionOf = async (response: Response): Promise<string> =>
  textOf(fieldsOf(fieldsOf(await response.json()).metadata).resourceVersion);

/** What a server says of an object that it does not take. */
export function refusalText({ status, reason, message }: ApiFailure): string {
  if (reason === "AlreadyExists") return "already exists";
  if (reason === "NotFound") return "does not exist";
  if (reason === "Conflict") return "was changed since it was read; nothing was written";
  return `${status} ${reason}: ${message}`;
}
