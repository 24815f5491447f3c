import { PortolanError } from "../../config/diagnostic.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** How long a delivery is taken to be under way after whoever acts for it has last said so. */
const underWayMs = 15_000;

/**
 * Rejects where another process has taken a delivery over, since this one gave no sign of life for a while. To be asked after what is to be
 * replaced was read, and before it is: then whoever comes too late replaces nothing.
 */
export type StillMine = () => Promise<void>;

class TakenOver extends PortolanError {}

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
  act: (stillMine: StillMine) => Promise<Response>,
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
      return settled(store, { key, etag: begun.etag }, now, act).catch((cause: unknown) => {
        if (!(cause instanceof TakenOver)) throw cause;
        return problem(409, `the request ${delivery} ${cause.message}`);
      });
  }
}

async function settled(
  store: ObjectStore,
  { key, etag: first }: { readonly key: string; readonly etag: string },
  now: () => number,
  act: (stillMine: StillMine) => Promise<Response>,
): Promise<Response> {
  let etag: string | undefined = first;
  let writes: Promise<unknown> = Promise.resolve();
  /** One note after the other, never over one that is somebody else's. @returns whether it is ours */
  const note = (state: State): Promise<boolean> => {
    const written = writes.then(async () => {
      if (etag === undefined) return false;
      const put = await store.put(key, noteOf(state, now()), { ifMatch: etag });
      etag = put.kind === "stored" ? put.etag : undefined;
      return etag !== undefined;
    });
    writes = written.catch(() => {});
    return written;
  };
  const stillBusy = setInterval(() => void note("begun").catch(() => {}), underWayMs / 3);
  const stillMine: StillMine = async () => {
    if (await note("begun")) return;
    throw new TakenOver("was taken over by another process, since this one gave no sign of life; it changed nothing");
  };
  try {
    const response = await act(stillMine);
    await note(response.ok || response.status === 412 ? "done" : "failed");
    return response;
  } catch (cause) {
    // A store that fails says nothing of why this did.
    await note("failed").catch(() => false);
    throw cause;
  } finally {
    clearInterval(stillBusy);
  }
}

type State = "begun" | "done" | "failed";

const noteOf = (state: State, nowMs: number) => new TextEncoder().encode(`${state} ${nowMs}`);

type Begun = { readonly kind: "begun"; readonly etag: string } | { readonly kind: "under way" | "done" };

/** Takes note that a delivery is under way, unless it is already, or is over. */
async function begin(store: ObjectStore, key: string, nowMs: number): Promise<Begun> {
  const note = noteOf("begun", nowMs);
  const first = await store.put(key, note, { ifNoneMatch: "*" });
  if (first.kind === "stored") return { kind: "begun", etag: first.etag };
  const seen = await store.get(key);
  if (seen.kind !== "found") return { kind: "under way" };
  const [, state, atMs] = /^(begun|failed) (\d+)$/.exec(new TextDecoder().decode(seen.bytes)) ?? [];
  if (state === undefined) return { kind: "done" };
  // In either direction: the clock of whoever has died may have been ahead.
  if (state === "begun" && Math.abs(nowMs - Number(atMs)) <= underWayMs) return { kind: "under way" };
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
