import { type ChunkedBody, wholeOf } from "./discovery-body.ts";

/** An error that says what is wrong; RFC 9457. */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify({ status, detail })}\n`, {
    status,
    headers: { ...retryAfter(status), ...headers, "content-type": "application/problem+json" },
  });
}

/** Whoever comes at a bad moment is told, in seconds, to try again soon. */
export function retryAfter(status: number): Readonly<Record<string, string>> {
  return status === 503 ? { "retry-after": "1" } : {};
}

/** Answers that are one reader's own are made in one piece up to this size; larger ones flow, so that memory does not grow with readers. */
const wholeBytes = 16 * 1024;

export const changedHeaders = (bytes: number) => ({
  "content-type": "application/json",
  "content-length": String(bytes),
});

/** @param more headers of the answer's own */
export async function bodyResponse(
  body: ChunkedBody,
  more: Readonly<Record<string, string>> = {},
  status = 200,
): Promise<Response> {
  const headers = { ...changedHeaders(body.bytes), ...more };
  if (body.whole === undefined && body.bytes > wholeBytes) return new Response(flowing(body), { status, headers });
  // For others too, so nobody waits for the one who takes it.
  const whole = body.whole ?? (await wholeOf(body));
  body.sent?.();
  return new Response(whole, { status, headers });
}

/** Not made from the generator alone, which would not tell of an end before its beginning. */
function flowing({ chunks, sent = () => {} }: ChunkedBody): ReadableStream<Uint8Array> {
  const pieces = chunks();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await pieces.next().catch((cause: unknown) => {
        sent();
        throw cause;
      });
      if (piece.done !== true) return controller.enqueue(piece.value);
      controller.close();
      sent();
    },
    async cancel() {
      sent();
      await pieces.return(undefined);
    },
  });
}

/** An answer that lies in memory whole. @param sent called when its reader has it, or has gone away */
export function sentOnce(
  bytes: Uint8Array<ArrayBuffer>,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  sent: () => void,
): Response {
  let given = false;
  const body = new ReadableStream<Uint8Array>(
    {
      // The second piece is asked for when there is room again behind the first.
      pull(controller) {
        if (given) {
          controller.close();
          sent();
        } else controller.enqueue(bytes);
        given = true;
      },
      cancel: () => sent(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers: { ...headers, "content-length": String(bytes.length) } });
}
