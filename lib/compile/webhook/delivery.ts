import { PortolanError } from "../../base/diagnostic.ts";
import { encodeKeyPart, type FoundObject, type ObjectStore } from "../../storage/object-store.ts";

/** How long a delivery is taken to be under way after whoever acts for it has last said so. */
export const underWayMs = 15_000;

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
 * @param sender whose deliveries these are: nobody else can use up their names
 * @param delivery names it, among those of `sender`
 */
export type Once = (
  sender: string,
  delivery: string,
  act: (stillMine: StillMine) => Promise<Response>,
) => Promise<Response>;

/** @param monotonic a clock of this process that nobody sets, in milliseconds */
export function createOnce(store: ObjectStore, now: () => number, monotonic = () => performance.now()): Once {
  const silentMs = createSilence(store, monotonic);
  return async (sender, delivery, act) => {
    const key = `hooks/${encodeKeyPart(sender)}/${encodeKeyPart(delivery)}`;
    const begun = await begin(store, key, now, silentMs);
    switch (begun.kind) {
      case "done":
        return problem(409, `the request ${delivery} was received before`);
      case "under way": {
        const retry = { "retry-after": String(underWayMs / 1_000) };
        return problem(
          503,
          `the request ${delivery} is under way, or the process that handled it has just died`,
          retry,
        );
      }
      case "begun":
        return settled(store, { key, etag: begun.etag }, now, act).catch((cause: unknown) => {
          if (!(cause instanceof TakenOver)) throw cause;
          return problem(409, `the request ${delivery} ${cause.message}`);
        });
    }
  };
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

/** No two have the same bytes: a store takes a condition that failed on a retry as met if it finds the bytes that it was to write. */
const noteOf = (state: State, nowMs: number) => new TextEncoder().encode(`${state} ${nowMs} ${crypto.randomUUID()}`);

type Begun = { readonly kind: "begun"; readonly etag: string } | { readonly kind: "under way" | "done" };

/** Takes note that a delivery is under way, unless it is already, or is over. */
async function begin(store: ObjectStore, key: string, now: () => number, silentMs: Silence): Promise<Begun> {
  const note = noteOf("begun", now());
  const first = await store.put(key, note, { ifNoneMatch: "*" });
  if (first.kind === "stored") return { kind: "begun", etag: first.etag };
  const seen = await store.get(key);
  if (seen.kind !== "found") return { kind: "under way" };
  // Earlier versions wrote no serial.
  const [, state] = /^(begun|failed) \d+(?: [0-9a-f-]{36})?$/.exec(new TextDecoder().decode(seen.bytes)) ?? [];
  if (state === undefined) return { kind: "done" };
  if (state === "begun" && (await silentMs(seen)) <= underWayMs) return { kind: "under way" };
  const again = await store.put(key, note, { ifMatch: seen.etag });
  return again.kind === "stored" ? { kind: "begun", etag: again.etag } : { kind: "under way" };
}

/** For how long whoever acts for a delivery has given no sign of life, by its note. */
type Silence = (note: FoundObject) => Promise<number>;

const maxSeen = 256;

/**
 * By the store's clock, which has written down when the note was written, or else since this process saw the same note first. Clocks of two
 * processes are never compared.
 */
function createSilence(store: ObjectStore, monotonic: () => number): Silence {
  /** When notes were seen first, by their tags: each sign of life has another. */
  const firstSeen = new Map<string, number>();
  return async ({ etag, modifiedMs }) => {
    const storeMs = modifiedMs === undefined ? undefined : await store.time?.();
    if (storeMs !== undefined && modifiedMs !== undefined) return storeMs - modifiedMs;
    const seenMs = firstSeen.get(etag) ?? monotonic();
    const [oldest] = firstSeen.keys();
    if (firstSeen.size >= maxSeen && oldest !== undefined) firstSeen.delete(oldest);
    firstSeen.set(etag, seenMs);
    return monotonic() - seenMs;
  };
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
