import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { type ApiAnswer, type ApiClient, type ApiRequest, send } from "../registry/kubernetes/api/client.ts";
import type { ApiItem } from "../registry/kubernetes/api/item.ts";
import { listItems } from "../registry/kubernetes/api/list.ts";
import type { ApiResource } from "../registry/kubernetes/api/resource.ts";
import type { Pace } from "../registry/origin/retry.ts";

/** How long a writer waits for an answer of the API server. */
export const requestMs = 10_000;

/** @throws PortolanError where the server does not answer in time */
export const requestOf = (client: ApiClient, path: string, request: ApiRequest = {}): Promise<ApiAnswer> =>
  send(client, path, { ...request, signal: AbortSignal.timeout(requestMs) }).catch((cause: unknown) => {
    throw new PortolanError(`${path} cannot be asked for: ${causeText(cause)}`, [], cause);
  });

/** All objects of a resource, by namespace and name. @throws PortolanError where the server does not give all of them in time */
export async function objectsOf(
  client: ApiClient,
  resource: ApiResource,
  pace: Pace,
): Promise<ReadonlyMap<string, ApiItem>> {
  // A list that begins again, because its continuation has expired, has the same objects once more.
  const items = new Map<string, ApiItem>();
  const keep = (item: ApiItem) => {
    items.set(`${item.metadata.namespace ?? ""}/${item.metadata.name}`, item);
    return undefined;
  };
  await listItems(client, resource, { pace, keep }, AbortSignal.timeout(requestMs));
  return items;
}

/** A time as Kubernetes writes it in statuses. @param ms since the epoch */
export const kubernetesTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
