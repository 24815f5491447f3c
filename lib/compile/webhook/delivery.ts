import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** How long a delivery is taken to be under way that nobody has ended. No signature of our own holds longer. */
const underWayMs = 300_000;

/**
 * Acts for a delivery that was not acted upon before, and refuses a replay. One that failed may be made again, and one whose
 * process died on the way some minutes later; so whatever is done here has to bear being done twice. A condition that did not hold is
 * no failure: it might hold for a replay.
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
  if (!(await begin(store, key, nowMs))) return problem(409, `the request ${delivery} was received before`);
  const response = await act().catch(async (cause: unknown) => {
    await store.delete(key);
    throw cause;
  });
  if (response.ok || response.status === 412) await store.put(key, noteOf("done", nowMs));
  else await store.delete(key);
  return response;
}

const noteOf = (state: "begun" | "done", nowMs: number) => new TextEncoder().encode(`${state} ${nowMs}`);

/** Takes note that a delivery is under way. @returns false when it is already, or is over */
async function begin(store: ObjectStore, key: string, nowMs: number): Promise<boolean> {
  const note = noteOf("begun", nowMs);
  if ((await store.put(key, note, { ifNoneMatch: "*" })).kind === "stored") return true;
  const seen = await store.get(key);
  if (seen.kind !== "found") return false;
  const [, begunMs] = /^begun (\d+)$/.exec(new TextDecoder().decode(seen.bytes)) ?? [];
  if (begunMs === undefined || nowMs - Number(begunMs) <= underWayMs) return false;
  return (await store.put(key, note, { ifMatch: seen.etag })).kind === "stored";
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
