import { settledWithin } from "../lib/snapshot/worlds/load-cache.ts";

/** What a rate limiting binding of Cloudflare's does. */
export interface RateLimit {
  limit(asked: { readonly key: string }): Promise<{ readonly success: boolean }>;
}

/** How long a binding may take. */
const patienceMs = 500;

/** How often a binding that fails is told of: once in a minute, whatever comes. */
const tellEveryMs = 60_000;

/** Whether a request may go on, asked before anything else is done for it. */
export interface RateLimiter {
  /** @returns an answer for an address that asks too often; `undefined` for any other */
  turnedAway(request: Request, limit: RateLimit | undefined): Promise<Response | undefined>;
  /**
   * The answer to a request that is not turned away. It is finished though its sender may be gone: of what it began, a read of HEAD say,
   * other requests may wait for the end.
   */
  answer(asked: Asked, answer: () => Response | Promise<Response>): Promise<Response>;
}

/** A request to a Worker, with what the Worker's environment and platform have for it. */
interface Asked {
  readonly request: Request;
  readonly limit: RateLimit | undefined;
  readonly context: { waitUntil(work: Promise<unknown>): void };
}

/**
 * Counts requests by the address that they come from. Counts are each location's own, and where there is no binding nothing is counted.
 *
 * A binding that fails, or does not answer in time, stops no request: it protects the service, and must not end it. The log tells how many
 * requests were let in uncounted.
 *
 * @param tell writes a line of JSON to the log
 */
export function createRateLimiter(tell: (line: string) => void, now: () => number = Date.now): RateLimiter {
  let uncounted = 0;
  let toldMs = Number.NEGATIVE_INFINITY;

  function letIn(cause: unknown): undefined {
    uncounted += 1;
    if (now() - toldMs < tellEveryMs) return;
    toldMs = now();
    const event = "RATE_LIMIT fails; requests are let in without being counted";
    tell(JSON.stringify({ event, requests: uncounted, reason: String(cause).slice(0, 500) }));
    uncounted = 0;
  }

  const limiter: RateLimiter = {
    async turnedAway(request, limit) {
      if (limit === undefined) return undefined;
      try {
        const key = request.headers.get("cf-connecting-ip") ?? "unknown";
        const answer = limit.limit({ key });
        if (!(await settledWithin(answer, patienceMs))) throw new Error(`no answer within ${patienceMs} ms`);
        const { success } = await answer;
        return success ? undefined : tooMany();
      } catch (cause) {
        return letIn(cause);
      }
    },
    answer({ request, limit, context }, answer) {
      const answered = limiter.turnedAway(request, limit).then(async (away) => away ?? answer());
      context.waitUntil(answered.catch(() => {}));
      return answered;
    },
  };
  return limiter;
}

function tooMany(): Response {
  const body = { status: 429, detail: "too many requests from this address; the binding RATE_LIMIT sets the limit" };
  const headers = { "content-type": "application/problem+json", "retry-after": "10" };
  return new Response(`${JSON.stringify(body)}\n`, { status: 429, headers });
}
