import type { ToldStatus } from "../../compile/newest-statuses.ts";
import { causeText } from "../../config/cause-text.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { mergedStatus } from "../../config/gateway-api/status/merge-status.ts";
import type { GatewayApiStatus } from "../../config/gateway-api/status/status.ts";
import { fieldsOf } from "../../config/untyped.ts";
import {
  type ApiClient,
  type ApiRequest,
  apiError,
  isWorthRetrying,
  jsonOf,
  send,
} from "../../registry/kubernetes/api/client.ts";
import { createDiscovery } from "../../registry/kubernetes/api/discovery.ts";
import { otherKinds } from "../../registry/kubernetes/api/read-kinds.ts";
import { sameValue } from "../../registry/same.ts";

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

const requestMs = 10_000;

/**
 * Writes statuses into an API server, each under the condition that the object is the very one that was read a moment ago: what
 * others wrote meanwhile is never lost, and no object is told of a spec that it does not have any more.
 *
 * @param today milliseconds since the epoch
 */
export function createStatusWrite(client: ApiClient, now: () => number, today: () => number): WriteStatus {
  const find = createDiscovery(client, now);
  const ask = (path: string, request: ApiRequest) =>
    send(client, path, { ...request, signal: AbortSignal.timeout(requestMs) }).catch((cause: unknown) => {
      const reason = causeText(cause);
      throw new PortolanError(`${path} cannot be asked for: ${reason}`, [], cause);
    });

  async function pathOf(object: string): Promise<string | undefined> {
    const { group, kind, namespace, name } = partsOf(object);
    const read = otherKinds.find((one) => one.group === group && one.kind === kind);
    const place = read === undefined ? undefined : await find(read, AbortSignal.timeout(requestMs));
    if (read === undefined || place === undefined) return undefined;
    if (read.isClusterScoped) return `${place.path}/${name}`;
    return place.path.replace(/\/[^/]+$/, `/namespaces/${namespace}/${read.plural}/${name}`);
  }

  return async ({ object, generation, uid, controllers = [], status }) => {
    const path = await pathOf(object);
    if (path === undefined) return { kind: "other" };
    const { namespace } = partsOf(object);
    for (let attempt = 1; ; attempt += 1) {
      const found = await ask(path, {});
      if ("failure" in found) {
        if (found.failure.status === 404) return { kind: "other" };
        if (isWorthRetrying(found.failure)) throw apiError(path, found.failure);
        return { kind: "refused", reason: apiError(path, found.failure).message };
      }
      const there = fieldsOf(await jsonOf(path, found.response));
      const metadata = fieldsOf(there.metadata);
      if (metadata.uid !== uid || metadata.generation !== generation) return { kind: "other" };
      const instant = new Date(today()).toISOString().replace(/\.\d+Z$/, "Z");
      const merged = mergedStatus(there.status, asStatus(status), { namespace, controllers, now: instant });
      if (sameValue(there.status, merged)) return { kind: "same" };
      const target = `${path}/status?fieldManager=portolan-status`;
      const answer = await ask(target, { method: "PUT", body: { ...there, status: merged } });
      if ("response" in answer) return { kind: "written" };
      const { failure } = answer;
      if (failure.status === 404) return { kind: "other" };
      if (failure.status === 409 && attempt < attempts) continue;
      if (failure.status === 409 || isWorthRetrying(failure)) throw apiError(target, failure);
      return { kind: "refused", reason: apiError(target, failure).message };
    }
  };
}

/** Of what `keyText` writes. */
function partsOf(object: string) {
  const [kindText = "", namespace = "", name = ""] = object.split("/");
  const dot = kindText.indexOf(".");
  return dot < 0
    ? { kind: kindText, group: "", namespace, name }
    : { kind: kindText.slice(0, dot), group: kindText.slice(dot + 1), namespace, name };
}

/** A compile wrote it, and the root's hash vouches for it. */
const asStatus = (status: object): GatewayApiStatus => {
  const { conditions, parents, ancestors } = fieldsOf(status);
  if (Array.isArray(parents)) return { parents };
  if (Array.isArray(ancestors)) return { ancestors };
  return { ...fieldsOf(status), conditions: Array.isArray(conditions) ? conditions : [] };
};
