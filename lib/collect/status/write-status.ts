import { kindText } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { statusAddresses, takesAddresses } from "../../compile/resolved/allocated-addresses.ts";
import type { ToldStatus } from "../../compile/statuses/newest-statuses.ts";
import { mergedStatus } from "../../config/gateway-api/status/merge-status.ts";
import type { GatewayApiStatus } from "../../config/gateway-api/status/status.ts";
import { sameValue } from "../../registry/changes/same.ts";
import {
  type ApiClient,
  type ApiRequest,
  apiError,
  isWorthRetrying,
  jsonOf,
} from "../../registry/kubernetes/api/client.ts";
import { createDiscovery } from "../../registry/kubernetes/api/discovery.ts";
import { otherKinds } from "../../registry/kubernetes/api/read-kinds.ts";
import { objectPath } from "../../registry/kubernetes/api/resource.ts";
import { kubernetesTime, requestMs, requestOf } from "../cluster-requests.ts";

/** What became of the status of one object. */
export type StatusWrite =
  /** `same`: it said so already. `other`: the object is gone, or another by now than the one that the status speaks of. */
  | { readonly kind: "written" | "same" | "other" }
  /** The server does not take it, and will not take it the next time either. */
  | { readonly kind: "refused"; readonly reason: string };

/** Writes one status; throws PortolanError where the server may take it another time. */
export type WriteStatus = (told: ToldStatus) => Promise<StatusWrite>;

/** An object that is written to all the time: whoever comes next tries again. */
const attempts = 4;

/**
 * Writes statuses into an API server, each under the condition that the object is the very one that was read a moment ago: what
 * others wrote meanwhile is never lost, and no object is told of a spec that it does not have any more.
 *
 * @param today milliseconds since the epoch
 */
export function createStatusWrite(client: ApiClient, now: () => number, today: () => number): WriteStatus {
  const find = createDiscovery(client, now);
  async function pathOf(object: string): Promise<string | undefined> {
    const { kind, namespace, name } = partsOf(object);
    const read = otherKinds.find((one) => kindText(one) === kind);
    const place = read === undefined ? undefined : await find(read, AbortSignal.timeout(requestMs));
    if (read === undefined || place === undefined) return undefined;
    return objectPath(place, read, namespace, name);
  }

  /** What is to be asked for the status to be in force; undefined: it is. */
  function writeOf(there: Fields, path: string, { object, controllers = [], status }: ToldStatus): Write | undefined {
    const { kind, namespace } = partsOf(object);
    if (kind === "ServiceEntry") return applyOf(there, path, status);
    const instant = kubernetesTime(today());
    const merged = mergedStatus(there.status, asStatus(status), { namespace, controllers, now: instant });
    if (sameValue(there.status, merged)) return undefined;
    const target = `${path}/status?fieldManager=portolan-status`;
    return { target, request: { method: "PUT", body: { ...there, status: merged } } };
  }

  return async (told) => {
    const { object, generation, uid } = told;
    const path = await pathOf(object);
    if (path === undefined) return { kind: "other" };
    for (let attempt = 1; ; attempt += 1) {
      const found = await requestOf(client, path, {});
      if ("failure" in found) {
        if (found.failure.status === 404) return { kind: "other" };
        if (isWorthRetrying(found.failure)) throw apiError(path, found.failure);
        return { kind: "refused", reason: apiError(path, found.failure).message };
      }
      const there = fieldsOf(await jsonOf(path, found.response));
      const metadata = fieldsOf(there.metadata);
      if (metadata.uid !== uid || metadata.generation !== generation) return { kind: "other" };
      const write = writeOf(there, path, told);
      if (write === undefined) return { kind: "same" };
      const { target, request } = write;
      const answer = await requestOf(client, target, request);
      if ("response" in answer) return { kind: "written" };
      const { failure } = answer;
      if (failure.status === 404) return { kind: "other" };
      if (failure.status === 409 && attempt < attempts) continue;
      if (failure.status === 409 || isWorthRetrying(failure)) throw apiError(target, failure);
      return { kind: "refused", reason: apiError(target, failure).message };
    }
  };
}

/** Owner of the addresses in the eyes of a server. */
const addressManager = "portolan-addresses";

interface Write {
  readonly target: string;
  readonly request: ApiRequest;
}

/**
 * Applies the addresses of a ServiceEntry's status, beside all that are there: the list is one field to the server. It takes the field over
 * from whoever wrote it before, under the condition that nobody has written the object since it was read.
 *
 * @returns undefined where each host has an address; where none is to have one, and the list is not ours
 */
function applyOf(
  { apiVersion, kind, metadata, spec, status: there }: Fields,
  path: string,
  status: object,
): Write | undefined {
  const { name, namespace, uid, resourceVersion, managedFields } = fieldsOf(metadata);
  const applied = (addresses: Fields): Write => ({
    target: `${path}/status?fieldManager=${addressManager}&force=true`,
    request: {
      method: "PATCH",
      contentType: "application/apply-patch+yaml",
      body: { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status: addresses },
    },
  });
  const wanted = statusAddresses(status);
  // A label may have changed since the compile, which makes no other generation of the object.
  const { resolution, addresses } = fieldsOf(spec);
  const live = { resolution: textOf(resolution) || "NONE", addresses: listOf(addresses) };
  if (takesAddresses({ meta: { labels: stringsOf(fieldsOf(metadata).labels) }, spec: live }) !== wanted.length > 0)
    return undefined;
  // What somebody else has written stays.
  if (wanted.length === 0)
    return listOf(managedFields).some((one) => fieldsOf(one).manager === addressManager)
      ? applied({ addresses: [] })
      : undefined;
  const known = statusAddresses(there);
  const hosts = new Set(known.map(({ host }) => host));
  const added = wanted.filter(({ host }) => !hosts.has(host));
  if (added.length === 0) return undefined;
  return applied({ addresses: [...known, ...added].map(({ host, value }) => ({ value, host })) });
}

/** Of what `keyText` writes. */
function partsOf(object: string) {
  const [kind = "", namespace = "", name = ""] = object.split("/");
  return { kind, namespace, name };
}

/** A compile wrote it, and the root's hash vouches for it. */
const asStatus = (status: object): GatewayApiStatus => {
  const { conditions, parents, ancestors } = fieldsOf(status);
  if (Array.isArray(parents)) return { parents };
  if (Array.isArray(ancestors)) return { ancestors };
  return { ...fieldsOf(status), conditions: Array.isArray(conditions) ? conditions : [] };
};
