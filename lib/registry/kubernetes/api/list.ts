import { PortolanError } from "../../../config/diagnostic.ts";
import { fieldsOf, listOf, textOf } from "../../../config/untyped.ts";
import type { Pace } from "../../retry.ts";
import type { KubernetesObject } from "../object.ts";
import { type ApiClient, type ApiFailure, apiError, get } from "./client.ts";
import { readItem } from "./item.ts";
import { type ApiResource, resourcePath } from "./resource.ts";

/** A whole collection. */
export interface ListedItems {
  readonly items: readonly KubernetesObject[];
  /** Where a watch can go on from; "" for a kind that the server does not have. */
  readonly version: string;
}

export interface ListOptions {
  /** Name of the source, for origins. */
  readonly source: string;
  readonly pace: Pace;
  /** Items a page. */
  readonly pageSize?: number;
}

const attempts = 4;

function isWorthRetrying({ status, reason }: ApiFailure): boolean {
  return status === 429 || status >= 500 || (status === 410 && reason === "Expired");
}

/** One attempt: all pages, or the first failure. */
async function listOnce(
  client: ApiClient,
  resource: ApiResource,
  options: ListOptions,
  signal: AbortSignal | undefined,
): Promise<ListedItems | ApiFailure> {
  const items: KubernetesObject[] = [];
  let token = "";
  let version = "";
  do {
    const query = { limit: String(options.pageSize ?? 500), ...(token === "" ? {} : { continue: token }) };
    const answer = await get(client, resourcePath(resource, query), signal);
    if ("failure" in answer) return answer.failure;
    const page = fieldsOf(await answer.response.json());
    const metadata = fieldsOf(page.metadata);
    for (const value of listOf(page.items)) {
      const item = readItem(value, resource, options.source);
      if (item !== undefined) items.push(item);
    }
    // All pages carry the first one's version.
    version ||= textOf(metadata.resourceVersion);
    token = textOf(metadata.continue);
  } while (token !== "");
  return { items, version };
}

/**
 * Lists a collection, all pages. A list whose continuation expired is begun anew, a server that is busy is asked
 * again after the time it names; both a few times. A kind that the server does not have is an empty collection.
 *
 * @throws PortolanError when the collection could not be read as a whole
 */
export async function listItems(
  client: ApiClient,
  resource: ApiResource,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<ListedItems> {
  for (let attempt = 1; ; attempt += 1) {
    const listed = await listOnce(client, resource, options, signal).catch((cause: unknown) => {
      throw new PortolanError(`${resource.path} could not be listed`, [], cause);
    });
    if ("items" in listed) return listed;
    if (listed.status === 404) return { items: [], version: "" };
    if (attempt === attempts || !isWorthRetrying(listed)) throw apiError(resource.path, listed);
    const wait = listed.retryAfter > 0 ? listed.retryAfter * 1000 : options.pace.backOff(attempt);
    await options.pace.pause(listed.status === 410 ? 0 : wait, signal ?? new AbortController().signal);
  }
}
