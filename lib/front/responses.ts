import { type ChunkedBody, wholeOf } from "./discovery-body.ts";

/** An error that says what is wrong; RFC 9457. */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify({ status, detail })}\n`, {
    status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

/** Answers up to this size are sent in one piece; larger ones flow, so that memory does not grow with readers. */
const wholeBytes = 128 * 1024;

export async function bodyResponse(body: ChunkedBody): Promise<Response> {
  const headers = { "content-type": "application/json", "content-length": String(body.bytes) };
  const content = body.bytes <= wholeBytes ? await wholeOf(body) : ReadableStream.from(body.chunks());
  return new Response(content, { headers });
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
