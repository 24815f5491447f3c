import { causeText } from "../../../base/cause-text.ts";
import { PortolanError } from "../../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../../base/untyped.ts";
import type { PackedObject } from "../../origin/origin.ts";
import type { Pace } from "../../origin/retry.ts";
import { type ApiClient, type ApiFailure, apiError, isWorthRetrying, jsonOf, send } from "./client.ts";
import { type ApiItem, readItem } from "./item.ts";
import { type ApiResource, acceptOf, resourcePath } from "./resource.ts";

/** A whole collection. */
export interface ListedItems {
  readonly items: readonly PackedObject[];
  /** Where a watch can go on from; "" for a kind that the server does not have. */
  readonly version: string;
}

export interface ListOptions {
  readonly pace: Pace;
  /** Items a page. */
  readonly pageSize?: number;
  /** Most characters of JSON that are kept of all items of a list; 1 Gi when absent. */
  readonly listSize?: number;
  /** What is kept of an item; undefined for one that is passed over. */
  readonly keep: (item: ApiItem) => PackedObject | undefined;
  /** Told why, when a busy server has the list wait for long. */
  readonly waiting?: (reason: string) => void;
}

/** Milliseconds. Whoever waits longer for a busy server does not know any more what there is. */
export const patienceMs = 10_000;

const attempts = 4;

/** Counts what is kept of a list: what is returned throws PortolanError at the item that makes it too long. */
export function createListBound(
  resource: ApiResource,
  { listSize = 2 ** 30 }: ListOptions,
): (kept: PackedObject) => void {
  let size = 0;
  return ({ entry }) => {
    size += entry.length;
    if (size > listSize) throw new PortolanError(`the list of ${resource.path} is longer than ${listSize} characters`);
  };
}

/** A million items. A list that goes on has no end. */
const mostPages = 2000;

/** A page that takes longer is not coming. */
const pageMs = 60_000;

const withTimeout = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(pageMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
};

/** One attempt: all pages, or the first failure. */
async function listOnce(
  client: ApiClient,
  resource: ApiResource,
  options: ListOptions,
  signal: AbortSignal | undefined,
): Promise<ListedItems | ApiFailure> {
  const items: PackedObject[] = [];
  const count = createListBound(resource, options);
  let token = "";
  let version = "";
  for (let pages = 0; pages === 0 || token !== ""; pages += 1) {
    if (pages === mostPages) throw new PortolanError(`the list of ${resource.path} has more than ${mostPages} pages`);
    const query = { limit: String(options.pageSize ?? 500), ...(token === "" ? {} : { continue: token }) };
    const request = { accept: acceptOf(resource, "list"), signal: withTimeout(signal) };
    const answer = await send(client, resourcePath(resource, query), request);
    if ("failure" in answer) return answer.failure;
    const page = fieldsOf(await jsonOf(resource.path, answer.response));
    const metadata = fieldsOf(page.metadata);
    // Whatever else answers with 200 says nothing of what there is.
    const { items: values } = page;
    if (!textOf(page.kind).endsWith("List") || textOf(metadata.resourceVersion) === "" || !Array.isArray(values))
      throw new PortolanError(`the answer to ${resource.path} is no list`);
    for (const value of values) {
      const kept = options.keep(readItem(value, resource));
      if (kept === undefined) continue;
      count(kept);
      items.push(kept);
    }
    // All pages carry the first one's version.
    version ||= textOf(metadata.resourceVersion);
    token = textOf(metadata.continue);
  }
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
  let waitedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const listed = await listOnce(client, resource, options, signal).catch((cause: unknown) => {
      if (cause instanceof PortolanError) throw cause;
      const reason = causeText(cause);
      throw new PortolanError(`${resource.path} could not be listed: ${reason}`, [], cause);
    });
    if ("items" in listed) return listed;
    if (listed.status === 404) return { items: [], version: "" };
    const isExpired = listed.status === 410;
    if (attempt === attempts || !(isExpired || isWorthRetrying(listed))) throw apiError(resource.path, listed);
    const wait = listed.retryAfter > 0 ? listed.retryAfter * 1000 : options.pace.backOff(attempt);
    if (!isExpired) waitedMs += wait;
    if (waitedMs > patienceMs) options.waiting?.(apiError(resource.path, listed).message);
    await options.pace.pause(isExpired ? 0 : wait, signal ?? new AbortController().signal);
  }
}
