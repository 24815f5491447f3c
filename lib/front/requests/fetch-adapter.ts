import { readBody } from "../../limits/read-body.ts";
import { type Answer, type Pieces, problem, wholeOf } from "./answer.ts";
import type { FrontRequest } from "./front-request.ts";
import type { Requests } from "./requests.ts";

/**
 * Answers requests of the web's kind, as Workers and Lambda have them.
 *
 * @param platform what the platform says of the request beside it, in fields that no client can write: Lambda's event
 */
export const fetchAnswers =
  ({ answer, onError }: Requests) =>
  (request: Request, platform?: unknown): Promise<Response> =>
    new Promise<Answer>((resolve) => answer(requestOf(request, platform), resolve))
      .then(responseOf)
      .catch((cause: unknown) => {
        onError(cause);
        return responseOf(problem(500, "an error of Portolan's own; its log has more"));
      });

function requestOf(request: Request, platform: unknown): FrontRequest {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    target: pathname + search,
    header: (name) => request.headers.get(name) ?? undefined,
    platform,
    // The runtime's own, which the types of browsers do not know.
    cf: Reflect.get(request, "cf"),
    body: (limits, take) => void readBody({ req: { raw: request }, env: platform }, limits).then(take),
    chunks: () => request.body,
    headers: () => request.headers,
    signal: () => request.signal,
  };
}

/** Answers that are one reader's own are made in one piece up to this size; larger ones flow, so that memory does not grow with readers. */
const wholeBytes = 16 * 1024;

/** The answer as a response of the web's kind. */
export async function responseOf({ status, headers, body }: Answer): Promise<Response> {
  if (typeof body !== "object") return new Response(body, { status, headers });
  const { whole, isShared, bytes = Number.POSITIVE_INFINITY, sent } = body;
  if (whole !== undefined && (isShared === true || sent === undefined)) {
    // For others too, so nobody waits for the one who takes it.
    sent?.();
    return new Response(whole, { status, headers });
  }
  if (whole !== undefined || bytes > wholeBytes) return new Response(flowing(body), { status, headers });
  const made = await wholeOf({ bytes, chunks: body.chunks });
  sent?.();
  return new Response(made, { status, headers });
}

/** Not made from the generator alone, which would not tell of an end before its beginning. */
function flowing({ chunks, sent = () => {} }: Pieces): ReadableStream<Uint8Array> {
  const pieces = chunks()[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
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
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
