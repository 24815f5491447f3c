import type { IncomingMessage } from "node:http";
import {
  type BodyLimits,
  brokenOff,
  type Collected,
  collect,
  isCompressed,
  type ReadBody,
  tooLarge,
} from "./read-body.ts";

/**
 * `readBody` for a request as Node's HTTP server brings it, by the request's events, which cost less than any stream around them. A body that comes in one piece, as most polls do,
 * waits for nothing and takes no room among those that do.
 *
 * @param take told once of the body, or why there is none
 */
export function takeIncoming(request: IncomingMessage, limits: BodyLimits, take: (body: ReadBody) => void): void {
  const { "content-encoding": encoding, "content-length": announced } = request.headers;
  const length = Number(announced ?? Number.NaN);
  const refusal = isCompressed(encoding) ?? (length > limits.maxBytes ? tooLarge(limits) : undefined);
  if (refusal !== undefined) {
    take(refusal);
    return;
  }
  let body: Collected | undefined;
  let isOver = false;
  // To take the listeners off would cost more than they do: they stay for what little comes of a request that is over.
  const end = (read: ReadBody) => {
    isOver = true;
    body?.close();
    take(read);
  };
  const whole = (parts: readonly Uint8Array[]): ReadBody => ({ kind: "read", parts, from: request.socket });
  const add = (chunk: Buffer) => {
    if (isOver) return;
    if (chunk.length === length) return end(whole([chunk]));
    body ??= collect(length, limits);
    body.add(chunk);
    const refusal = body.refusal();
    if (refusal === undefined) return;
    // What is left is not read: the answer comes first.
    request.pause();
    end(refusal);
  };
  // It comes last of all, whether there was an end or not.
  const finish = () => {
    if (isOver) return;
    end(request.readableEnded ? (body?.refusal() ?? whole(body?.parts() ?? [])) : brokenOff);
  };
  request.on("data", add).on("close", finish);
}
