import { PortolanError } from "../../../base/diagnostic.ts";
import { fieldsOf, listOf, textOf } from "../../../base/untyped.ts";
import { hasTlsSettings, protects } from "../../../config/fail-closed/protecting-kinds.ts";
import { type ApiClient, apiError, jsonOf, send } from "./client.ts";
import type { ReadKind } from "./read-kinds.ts";
import type { ApiResource } from "./resource.ts";

/**
 * Where a server has a kind; undefined where it does not have it, or is about to delete it with its CRD.
 *
 * @param maxAgeMs age in milliseconds up to which an earlier answer counts; 30,000 when absent
 * @throws PortolanError when the server does not say
 */
export type FindResource = (kind: ReadKind, signal: AbortSignal, maxAgeMs?: number) => Promise<ApiResource | undefined>;

/** What was heard holds for so long: whoever installs a kind waits as long for it to be read. */
const validMs = 30_000;

/** Where it is doubted, for so long: kinds of a group that is gone as a whole ask once. */
export const doubtedMs = 1_000;

/**
 * Whether a kind's CRD is being deleted: the server takes no new objects then, and deletes those that there are. It says so in its
 * verbs before the first object goes.
 * @see docs/how-istio-does-it/kubernetes.md#list-and-watch
 */
const isLeaving = (verbs: unknown): boolean => Array.isArray(verbs) && !verbs.includes("create");

/** The plurals that a group has in a version; none where it has no such version. @throws PortolanError when the server does not say */
async function pluralsIn(client: ApiClient, path: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const answer = await send(client, path, { signal });
  if ("failure" in answer) {
    if (answer.failure.status === 404) return new Set();
    throw apiError(path, answer.failure);
  }
  const { kind, resources } = fieldsOf(await jsonOf(path, answer.response));
  const there = Array.isArray(resources) ? resources.map(fieldsOf) : [{}];
  // Whatever else answers with 200 does not say that a kind is not there.
  if (kind !== "APIResourceList" || there.some(({ name }) => textOf(name) === ""))
    throw new PortolanError(`the answer to ${path} is no list of what the server has`);
  return new Set(there.flatMap(({ name, verbs }) => (isLeaving(verbs) ? [] : [textOf(name)])));
}

/** So many versions of a group are looked at; no group has as many. */
const maxVersions = 16;

/** The versions that a group is served in; none where it is not. @throws PortolanError when the server does not say */
async function versionsOf(client: ApiClient, group: string, signal: AbortSignal): Promise<readonly string[]> {
  const path = `/apis/${group}`;
  const answer = await send(client, path, { signal });
  if ("failure" in answer) {
    if (answer.failure.status === 404) return [];
    throw apiError(path, answer.failure);
  }
  const { versions } = fieldsOf(await jsonOf(path, answer.response));
  return listOf(versions)
    .slice(0, maxVersions)
    .map((one) => textOf(fieldsOf(one).version));
}

/**
 * Asks a server which of a kind's versions it serves, and takes the one that we prefer: one list under one version is enough, since
 * every version shows the same objects. A kind that protects, and is there in versions alone that are not known here, is no absent
 * one: what its objects protect would be open.
 *
 * @param now milliseconds of any clock that goes on
 */
export function createDiscovery(client: ApiClient, now: () => number): FindResource {
  const known = new Map<string, { readonly sinceMs: number; readonly plurals: Promise<ReadonlySet<string>> }>();
  const ask = (path: string, maxAgeMs: number, signal: AbortSignal): Promise<ReadonlySet<string>> => {
    const there = known.get(path);
    if (there !== undefined && now() - there.sinceMs < maxAgeMs) return there.plurals;
    const plurals = pluralsIn(client, path, signal);
    known.set(path, { sinceMs: now(), plurals });
    // What failed is asked again by whoever comes next.
    plurals.catch(() => known.delete(path));
    return plurals;
  };
  return async (read, signal, maxAgeMs = validMs) => {
    for (const version of read.versions) {
      const path = read.group === "" ? `/api/${version}` : `/apis/${read.group}/${version}`;
      if ((await ask(path, maxAgeMs, signal)).has(read.plural)) return resourceOf(read, version, path);
    }
    if (!protects(read) && !hasTlsSettings(read)) return undefined;
    const others = (await versionsOf(client, read.group, signal)).filter((one) => !read.versions.includes(one));
    for (const version of others) {
      if (!(await ask(`/apis/${read.group}/${version}`, maxAgeMs, signal)).has(read.plural)) continue;
      throw new PortolanError(
        `the cluster has ${read.plural}.${read.group} only in version ${version}, which is not known here (known: ${read.versions.join(", ")}): upgrade Portolan, or serve a known version`,
      );
    }
    return undefined;
  };
}

function resourceOf(read: ReadKind, version: string, path: string): ApiResource {
  const { group, kind, plural, only, fieldSelector, metadataOnly = false } = read;
  const selector = only === undefined ? fieldSelector : `metadata.name=${only.name}`;
  return {
    path: `${path}/${only === undefined ? "" : `namespaces/${only.namespace}/`}${plural}`,
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    ...(selector === undefined ? {} : { fieldSelector: selector }),
    ...(metadataOnly ? { metadataOnly } : {}),
  };
}
