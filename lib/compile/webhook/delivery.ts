import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/**
 * Acts for a delivery that was not acted upon before, and refuses a replay. A delivery counts when its act is over: one that failed, or
 * whose process died on the way, may be made again. So whatever is done here has to bear being done twice.
 */
export async function once(
  store: ObjectStore,
  delivery: string,
  nowMs: number,
  act: () => Promise<Response>,
): Promise<Response> {
  const key = `hooks/${encodeKeyPart(delivery).slice(0, 150)}`;
  if ((await store.get(key)).kind !== "absent") return problem(409, `the request ${delivery} was received before`);
  const response = await act();
  if (response.ok) await store.put(key, new TextEncoder().encode(String(nowMs)), { ifNoneMatch: "*" });
  return response;
}

/** A refusal for programs and people (RFC 9457). */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(
    { status, detail },
    { status, headers: { ...headers, "content-type": "application/problem+json" } },
  );
}
