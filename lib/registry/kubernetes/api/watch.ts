import { PortolanError } from "../../../config/diagnostic.ts";
import { fieldsOf, numberOf, textOf } from "../../../config/untyped.ts";
import type { KubernetesObject } from "../object.ts";
import { type ApiClient, apiError, get } from "./client.ts";
import { readItem } from "./item.ts";
import { jsonLines } from "./json-lines.ts";
import { type ApiResource, resourcePath } from "./resource.ts";

/** What a watch says; each event moves the position to resume from. */
export type WatchEvent =
  /** The server has accepted the watch; events follow as they come, perhaps none for long. */
  | { readonly type: "open" }
  | { readonly type: "put" | "delete"; readonly object: KubernetesObject; readonly version: string }
  | { readonly type: "bookmark"; readonly version: string }
  /** The position is too old: the collection must be listed anew. */
  | { readonly type: "gone" };

/** Seconds after which the server ends a watch by itself. */
const timeoutSeconds = "240";

function readEvent(value: unknown, resource: ApiResource, source: string): WatchEvent | undefined {
  const { type, object } = fieldsOf(value);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED": {
      const item = readItem(object, resource, source);
      if (item === undefined) return undefined;
      const version = textOf(item.metadata.resourceVersion);
      return { type: type === "DELETED" ? "delete" : "put", object: item, version };
    }
    case "BOOKMARK":
      return { type: "bookmark", version: textOf(fieldsOf(fieldsOf(object).metadata).resourceVersion) };
    case "ERROR": {
      const { code, reason, message } = fieldsOf(object);
      if (code === 410) return { type: "gone" };
      const failure = { status: numberOf(code) ?? 0, reason: textOf(reason), message: textOf(message), retryAfter: 0 };
      throw apiError(resource.path, failure);
    }
    default:
      return undefined;
  }
}

/**
 * The events of one watch connection after a position. Ends without a word when the server or the signal ends it, and
 * after `gone`.
 *
 * @throws PortolanError when the connection fails, or the server answers with another error than a position too old
 */
export async function* watchEvents(
  client: ApiClient,
  resource: ApiResource,
  version: string,
  source: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const query = { watch: "true", resourceVersion: version, allowWatchBookmarks: "true", timeoutSeconds };
  try {
    const answer = await get(client, resourcePath(resource, query), signal);
    if ("failure" in answer) {
      if (answer.failure.status !== 410) throw apiError(resource.path, answer.failure);
      yield { type: "gone" };
      return;
    }
    yield { type: "open" };
    const { body } = answer.response;
    if (body === null) return;
    for await (const value of jsonLines(body)) {
      const event = readEvent(value, resource, source);
      if (event === undefined) continue;
      yield event;
      if (event.type === "gone") return;
    }
  } catch (cause) {
    if (signal.aborted) return;
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError(`the watch of ${resource.path} broke`, [], cause);
  }
}
