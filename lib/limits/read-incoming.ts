import type { IncomingMessage } from "node:http";
import { type BodyLimits, brokenOff, collect, isCompressed, type ReadBody } from "./read-body.ts";

/** `readBody` for a request as Node's HTTP server brings it, by its events: they cost less than any stream around them. */
export function readIncoming(request: IncomingMessage, limits: BodyLimits): Promise<ReadBody> {
  const { "content-encoding": encoding, "content-length": length } = request.headers;
  const refusal = isCompressed(encoding);
  if (refusal !== undefined) return Promise.resolve(refusal);
  const body = collect(Number(length ?? Number.NaN), limits);
  return new Promise((resolve) => {
    let isOver = false;
    // To take the listeners off would cost more than they do: they stay for what little comes of a request that is over.
    const end = (read: ReadBody) => {
      isOver = true;
      body.close();
      resolve(read);
    };
    const finish = () => {
      if (!isOver) end(body.refusal() ?? { kind: "read", parts: body.parts(), from: request.socket });
    };
    // It comes last of all, and after an error.
    const breakOff = () => {
      if (!isOver) end(brokenOff);
    };
    const add = (chunk: Buffer) => {
      if (isOver) return;
      body.add(chunk);
      const refusal = body.refusal();
      if (refusal === undefined) return;
      // What is left is not read: the answer comes first.
      request.pause();
      end(refusal);
    };
    const early = body.refusal();
    if (early !== undefined) return end(early);
    request.on("data", add).on("end", finish).on("close", breakOff);
  });
}
