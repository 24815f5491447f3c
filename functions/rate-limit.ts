/** What a rate limiting binding of Cloudflare's does. */
export interface RateLimit {
  limit(asked: { readonly key: string }): Promise<{ readonly success: boolean }>;
}

/**
 * Asks the binding before anything else is done for a request, by the address that it comes from. Counts are each location's own, and
 * where there is no binding nothing is counted.
 *
 * @returns an answer for who asks too often; undefined for everybody else
 */
export async function turnedAway(request: Request, limit: RateLimit | undefined): Promise<Response | undefined> {
  if (limit === undefined) return undefined;
  const { success } = await limit.limit({ key: request.headers.get("cf-connecting-ip") ?? "unknown" });
  if (success) return undefined;
  const body = { status: 429, detail: "too many requests from this address; the binding RATE_LIMIT says how many" };
  const headers = { "content-type": "application/problem+json", "retry-after": "10" };
  return new Response(`${JSON.stringify(body)}\n`, { status: 429, headers });
}
