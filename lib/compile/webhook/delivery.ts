import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** How long a delivery is taken to be under way after whoever acts for it has last said so. */
const underWayMs = 15_000;

/**
 * Acts for a delivery that was not acted upon before, and refuses a replay. One that failed may be made again, and one whose
 * process died on the way some seconds later; so whatever is done here has to bear being done twice. A condition that did not hold is
 * no failure: it might hold for a replay.
 *
 * @param delivery names it, among those of `sender`
 */
export async function once(
  store: ObjectStore,
  sender: string,
  delivery: string,
  now: () => number,
  act: () => Promise<Response>,
): Promise<Response> {
  const key = `hooks/${encodeKeyPart(sender)}/${encodeKeyPart(delivery)}`;
  const begun = await begin(store, key, now());
  switch (begun.kind) {
    case "done":
      return problem(409, `the request ${delivery} was received before`);
    case "under way": {
      const retry = { "retry-after": String(underWayMs / 1_000) };
      return problem(503, `the request ${delivery} is under way, or whoever acted for it has just died`, retry);
    }
    case "begun":
      return settled(store, { key, etag: begun.etag }, now, act);
  }
}

async function settled(
  store: ObjectStore,
  { key, etag: first }: { readonly key: string; readonly etag: string },
  now: () => number,
  act: () => Promise<Response>,
): Promise<Response> {
  let etag = first;
  const stillBusy = setInterval(async () => {
    // Never over the note of the end.
    const put = await store.put(key, noteOf("begun", now()), { ifMatch: etag }).catch(() => undefined);
    if (put?.kind === "stored") etag = put.etag;
  }, underWayMs / 3);
  const response = await act()
    .catch(async (cause: unknown) => {
      clearInterval(stillBusy);
      await store.delete(key);
      throw cause;
    })
    .finally(() => clearInterval(stillBusy));
  if (response.ok || response.status === 412) await store.put(key, noteOf("done", now()));
  else await store.delete(key);
  return response;
}

const noteOf = (state: "begun" | "done", nowMs: number) => new TextEncoder().encode(`${state} ${nowMs}`);

type Begun = { readonly kind: "begun"; readonly etag: string } | { readonly kind: "under way" | "done" };

/** Takes note that a delivery is under way, unless it is already, or is over. */
async function begin(store: ObjectStore, key: string, nowMs: number): Promise<Begun> {
  const note = noteOf("begun", nowMs);
  const first = await store.put(key, note, { ifNoneMatch: "*" });
  if (first.kind === "stored") return { kind: "begun", etag: first.etag };
  const seen = await store.get(key);
  if (seen.kind !== "found") return { kind: "under way" };
  const [, begunMs] = /^begun (\d+)$/.exec(new TextDecoder().decode(seen.bytes)) ?? [];
  if (begunMs === undefined) return { kind: "done" };
  // In either direction: the clock of whoever has died may have been ahead.
  if (Math.abs(nowMs - Number(begunMs)) <= underWayMs) return { kind: "under way" };
  const again = await store.put(key, note, { ifMatch: seen.etag });
  return again.kind === "stored" ? { kind: "begun", etag: again.etag } : { kind: "under way" };
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
