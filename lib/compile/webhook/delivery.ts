import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** Acts for a delivery that was not seen before, and refuses a replay; an attempt that failed may be made again. */
export async function once(
  store: ObjectStore,
  delivery: string,
  nowMs: number,
  act: () => Promise<Response>,
): Promise<Response> {
  const key = `hooks/${encodeKeyPart(delivery).slice(0, 150)}`;
  const seen = await store.put(key, new TextEncoder().encode(String(nowMs)), { ifNoneMatch: "*" });
  if (seen.kind === "lost") return problem(409, `the request ${delivery} was received before`);
  try {
    const response = await act();
    if (!response.ok) await store.delete(key);
    return response;
  } catch (cause) {
    await store.delete(key);
    throw cause;
  }
}

/** A refusal for programs and people (RFC 9457). */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  // Whoever comes at a bad moment is told, in seconds, to try again soon.
  const again = status === 503 ? { "retry-after": "1" } : {};
  return Response.json(
    { status, detail },
    { status, headers: { ...again, ...headers, "content-type": "application/problem+json" } },
  );
}
