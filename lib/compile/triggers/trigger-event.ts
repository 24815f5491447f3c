import { isFields, jsonIn, listOf, textOf } from "../../base/untyped.ts";
import { cutText } from "../../snapshot/free-text.ts";

/**
 * What an event says to the compile function: whether there may be something new, and no more. What is new the store says, so an event
 * that comes late, twice or out of order does no harm.
 */
export interface TriggerEvent {
  /** False when all that it tells of are objects that no compile reads. */
  readonly asks: boolean;
  /** What woke the function, for its log: `aws:sqs`, `aws.events`, `r2`, `queue`. */
  readonly from: string;
  /** How many messages it stands for. */
  readonly messages: number;
  /** When the oldest of them was sent, in milliseconds since the epoch; absent where they do not say. */
  readonly sentMs?: number;
}

/** A message of Cloudflare's Queues. */
export interface QueuedMessage {
  readonly body: unknown;
  readonly timestamp?: Date;
}

/**
 * Reads what wakes a Lambda function: an event of S3's, SQS's (with S3's own events in them, also by SNS), EventBridge's or a schedule's.
 * Whatever else it is asks.
 *
 * @param prefix the folder of the bucket that the mesh lies in, with or without a slash at its end
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
export function readLambdaEvent(event: unknown, prefix = ""): TriggerEvent {
  const folder = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  const records = isFields(event) ? listOf(event.Records).filter(isFields) : [];
  const first = records[0];
  if (first === undefined) {
    const from = nameOf(isFields(event) ? textOf(event.source) || "event" : "event");
    const sent = isFields(event) ? Date.parse(textOf(event.time)) : Number.NaN;
    return { asks: mayBeNews(event, folder), from, messages: 1, ...sentAt([sent]) };
  }
  const times = records.map(({ attributes, eventTime }) =>
    isFields(attributes) ? Number(attributes.SentTimestamp) : Date.parse(textOf(eventTime)),
  );
  return {
    asks: mayBeNews(event, folder),
    from: nameOf(textOf(first.eventSource) || textOf(first.EventSource) || "event"),
    messages: records.length,
    ...sentAt(times),
  };
}

/**
 * Reads a batch of Cloudflare's Queues: event notifications of R2, and whatever else somebody sends to be compiled.
 *
 * @see https://developers.cloudflare.com/r2/buckets/event-notifications/
 */
export function readQueueBatch(messages: readonly QueuedMessage[], prefix = ""): TriggerEvent {
  const isR2 = messages.some(({ body }) => isFields(body) && isFields(body.object) && typeof body.bucket === "string");
  return {
    asks: messages.length === 0 || messages.some(({ body }) => mayBeNews(body, prefix)),
    from: isR2 ? "r2" : "queue",
    messages: messages.length,
    ...sentAt(messages.map(({ timestamp }) => timestamp?.getTime() ?? Number.NaN)),
  };
}

/** Anything may stand in an event; the log needs to know where it came from. */
const nameOf = (from: string): string => cutText(from, 128);

function sentAt(times: readonly number[]): { readonly sentMs?: number } {
  const known = times.filter(Number.isFinite);
  return known.length === 0 ? {} : { sentMs: known.reduce((a, b) => Math.min(a, b)) };
}

/** Messages lie in messages: S3's in SNS's in SQS's. */
const maxDepth = 4;

function mayBeNews(content: unknown, folder: string, depth = 0): boolean {
  const inner = (next: unknown) => mayBeNews(next, folder, depth + 1);
  if (depth > maxDepth) return true;
  if (typeof content === "string") {
    const json = jsonIn(content);
    return json === undefined || inner(json);
  }
  if (!isFields(content)) return true;
  // S3 asks once whether somebody is there.
  if (content.Event === "s3:TestEvent") return false;
  if (Array.isArray(content.Records) && content.Records.length > 0) return content.Records.some(inner);
  if (isFields(content.s3)) {
    const key = isFields(content.s3.object) ? content.s3.object.key : undefined;
    // S3 writes keys as forms do; other servers write them as they are.
    return moves(key, folder) || moves(formDecoded(key), folder);
  }
  if (typeof content.eventSource === "string" && "body" in content) return inner(content.body);
  if (isFields(content.Sns)) return inner(content.Sns.Message);
  if (content.Type === "Notification") return inner(content.Message);
  if (isFields(content.detail) && isFields(content.detail.object)) return moves(content.detail.object.key, folder);
  if (isFields(content.object) && typeof content.bucket === "string") return moves(content.object.key, folder);
  return true;
}

/**
 * Whether a source is another when this object is: its list, the head of what a collector fills, or a record of a class that a node wants.
 * Their parts are written before.
 */
function moves(key: unknown, folder: string): boolean {
  if (typeof key !== "string" || !key.startsWith(folder)) return false;
  return /^(?:sources\/[^/]+\/(?:list|head)|wanted\/[^/]+)$/.test(key.slice(folder.length));
}

function formDecoded(key: unknown): string {
  try {
    return decodeURIComponent(textOf(key).replaceAll("+", " "));
  } catch {
    return "";
  }
}
