import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/**
 * Acts for a delivery that was not seen before, and refuses a replay; an attempt that failed may be made again. A condition that
 * did not hold is no failure: it might hold for a replay.
 *
 * @param delivery names it, among those of `sender`
 */
export async function once(
  store: ObjectStore,
  sender: string,
  delivery: string,
  nowMs: number,
  act: () => Promise<Response>,
): Promise<Response> {
  const key = `hooks/${encodeKeyPart(sender)}/${encodeKeyPart(delivery)}`;
  const seen = await store.put(key, new TextEncoder().encode(String(nowMs)), { ifNoneMatch: "*" });
  if (seen.kind === "lost") return problem(409, `the request ${delivery} was received before`);
  try {
    const response = await act();
    if (!response.ok && response.status !== 412) await store.delete(key);
    return response;
  } catch (cause) {
    await store.delete(key);
    throw cause;
  }
}

/** A refusal for programs and people (RFC 9457). */
export function problem(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(
    { status, detail },
    { status, headers: { ...headers, "content-type": "application/problem+json" } },
  );
}
