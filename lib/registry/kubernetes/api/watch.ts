import { causeText } from "../../../base/cause-text.ts";
import { PortolanError } from "../../../base/diagnostic.ts";
import { fieldsOf, numberOf, textOf } from "../../../base/untyped.ts";
import { type ApiClient, apiError, isWorthRetrying, send } from "./client.ts";
import { type ApiItem, readItem } from "./item.ts";
import { jsonLines } from "./json-lines.ts";
import { type ApiResource, acceptOf, resourcePath } from "./resource.ts";

/** What a watch says; each event moves the position to resume from. */
export type WatchEvent =
  /** The server has accepted the watch; events follow as they come, perhaps none for long. */
  | { readonly type: "open" }
  | { readonly type: "put" | "delete"; readonly object: ApiItem; readonly version: string }
  | {
      readonly type: "bookmark";
      readonly version: string;
      /** Everything that there was at first has come. */
      readonly isInitialEnd: boolean;
    }
  /** The position is too old: the collection must be listed anew. */
  | { readonly type: "gone" }
  /** The server does not stream lists: list, then watch. */
  | { readonly type: "unsupported" }
  /** The server has no such kind. */
  | { readonly type: "absent" }
  /** The server asks for patience; of 0 milliseconds it says nothing. */
  | { readonly type: "busy"; readonly waitMs: number; readonly reason: string };

/** Seconds after which the server ends a watch by itself. */
export const usualWatchSeconds = 240;
/** A watch that the server has not ended so long after it should have has nobody at its other end. */
const lateMs = 20_000;

export interface WatchFrom {
  /** "": from everything that there is. */
  readonly version: string;
  /** After which the server ends it. */
  readonly seconds: number;
}

const initialEnd = "k8s.io/initial-events-end";

function readEvent(value: unknown, resource: ApiResource, isStream: boolean): WatchEvent | undefined {
  const { type, object } = fieldsOf(value);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED": {
      const item = readItem(object, resource);
      const version = item.metadata.resourceVersion ?? "";
      return { type: type === "DELETED" ? "delete" : "put", object: item, version };
    }
    case "BOOKMARK": {
      const { resourceVersion, annotations } = fieldsOf(fieldsOf(object).metadata);
      const isInitialEnd = fieldsOf(annotations)[initialEnd] === "true";
      return { type: "bookmark", version: textOf(resourceVersion), isInitialEnd };
    }
    case "ERROR": {
      const { code, reason, message } = fieldsOf(object);
      if (code === 410) return { type: "gone" };
      const failure = { status: numberOf(code) ?? 0, reason: textOf(reason), message: textOf(message), retryAfter: 0 };
      if (isStream && isRefusal(failure.status, failure.message)) return { type: "unsupported" };
      throw apiError(resource.path, failure);
    }
    default:
      return undefined;
  }
}

/**
 * Whether a server says that it streams no lists: one whose etcd cannot says so within the stream, one that does not know the
 * option, or has it switched off, refuses the request.
 * @see docs/how-istio-does-it/kubernetes.md#list-and-watch
 */
const isRefusal = (status: number, message: string): boolean =>
  status === 422 || status === 400 || (status === 500 && message.includes("RequestWatchProgress"));

/**
 * The events of one watch connection after a position; without one everything that there is first, and a bookmark that says so.
 * Ends without a word when the server or the signal ends it, and after
 * `gone`, `unsupported`, `absent` and `busy`.
 *
 * @throws PortolanError when the connection fails, or the server answers with another error
 */
export async function* watchEvents(
  client: ApiClient,
  resource: ApiResource,
  { version, seconds }: WatchFrom,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const isStream = version === "";
  const from = isStream
    ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
    : { resourceVersion: version };
  const query = { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: String(seconds), ...from };
  try {
    const until = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000 + lateMs)]);
    const request = { accept: acceptOf(resource, "watch"), signal: until };
    const answer = await send(client, resourcePath(resource, query), request);
    if ("failure" in answer) {
      const { failure } = answer;
      if (failure.status === 410) yield { type: "gone" };
      else if (failure.status === 404) yield { type: "absent" };
      else if (isStream && isRefusal(failure.status, failure.message)) yield { type: "unsupported" };
      else if (isWorthRetrying(failure))
        yield { type: "busy", waitMs: failure.retryAfter * 1000, reason: apiError(resource.path, failure).message };
      else throw apiError(resource.path, failure);
      return;
    }
    yield { type: "open" };
    const { body } = answer.response;
    if (body === null) return;
    for await (const value of jsonLines(body)) {
      const event = readEvent(value, resource, isStream);
      if (event === undefined) continue;
      yield event;
      if (event.type === "gone" || event.type === "unsupported") return;
    }
  } catch (cause) {
    if (signal.aborted) return;
    if (cause instanceof PortolanError) throw cause;
    const reason = causeText(cause);
    throw new PortolanError(`the watch of ${resource.path} broke: ${reason}`, [], cause);
  }
}
