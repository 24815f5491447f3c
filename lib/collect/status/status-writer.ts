import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { NewestStatuses, ToldStatus } from "../../compile/statuses/newest-statuses.ts";
import { sha256 } from "../../config/canonical-json.ts";
import type { ApiClient } from "../../registry/kubernetes/api/client.ts";
import { createBell, defaultPace, type Pace } from "../../registry/origin/retry.ts";
import type { Lease } from "./lease.ts";
import { createStatusWrite } from "./write-status.ts";

export interface StatusWriterOptions {
  readonly client: ApiClient;
  /** Who holds it writes, and nobody else. */
  readonly lease: Lease;
  /** What the newest compile says; without statuses where its root is the one that is known. */
  readonly read: (knownRoot: string | undefined) => Promise<NewestStatuses | undefined>;
  /** Milliseconds after which a compile is looked for without being told of one; 5,000 when absent. */
  readonly pollMs?: number;
  /** Milliseconds after which every object is looked at again, whatever was written to it; 300,000 when absent. */
  readonly againMs?: number;
  readonly pace?: Pace;
  readonly now?: () => number;
  readonly today?: () => number;
  /** Told after statuses were written. */
  readonly wrote?: (count: number) => void;
  /** Told when this begins or ends to be the one that writes. */
  readonly led?: (isHeld: boolean) => void;
  /** Told when something begins to go wrong, or is otherwise wrong than before; "" when all is well again. */
  readonly troubled?: (reason: string) => void;
}

/** How the writing of statuses fares. */
export interface StatusWriterState {
  readonly isHolder: boolean;
  /** Statuses written since it began. */
  readonly written: number;
  /** Those of the newest compile that the server does not take. */
  readonly refused: number;
}

/** Writes what compiles say of a cluster's objects back to them. */
export interface StatusWriter {
  /** Until the signal says stop. */
  run(signal: AbortSignal): Promise<void>;
  /** Writes what the newest compile says, and leaves. @throws PortolanError where another one writes, or something went wrong */
  once(): Promise<void>;
  /** Something was compiled. */
  nudge(): void;
  state(): StatusWriterState;
}

/**
 * Asks the server about an object only when a compile says something new of it, and about all of them now and then. Objects
 * that no server has, and those of another cluster, are passed over: each status names the very object that it speaks of.
 */
export function createStatusWriter(options: StatusWriterOptions): StatusWriter {
  const { client, lease, read, pollMs = 5_000, againMs = 300_000, pace = defaultPace } = options;
  const { now = () => performance.now(), today = Date.now } = options;
  const write = createStatusWrite(client, now, today);
  const bell = createBell();
  /** Object → hash of the status that nothing is left to do about. */
  const settled = new Map<string, string>();
  const refusals = new Map<string, string>();
  let root: string | undefined;
  let statuses: readonly ToldStatus[] = [];
  let lookedMs = Number.NEGATIVE_INFINITY;
  let written = 0;
  let told = "";

  const tell = (reason: string): void => {
    if (reason === told) return;
    told = reason;
    options.troubled?.(reason);
  };

  async function readNewest(): Promise<void> {
    const newest = await read(root);
    if (newest?.statuses === undefined) return;
    root = newest.root;
    statuses = newest.statuses.filter(({ uid }) => uid !== undefined);
    const objects = new Set(statuses.map(({ object }) => object));
    for (const known of settled.keys()) if (!objects.has(known)) settled.delete(known);
    for (const known of refusals.keys()) if (!objects.has(known)) refusals.delete(known);
  }

  /**
   * @returns whether nothing is left to write; the lease may be lost meanwhile
   * @throws PortolanError where something may go better the next time; what was done until then is done
   */
  async function pass(): Promise<boolean> {
    await readNewest();
    if (now() - lookedMs > againMs) {
      settled.clear();
      lookedMs = now();
    }
    const before = written;
    try {
      for (const status of statuses) {
        const hash = sha256(JSON.stringify(status));
        if (settled.get(status.object) === hash) continue;
        if (!lease.isHeld()) return false;
        const done = await write(status);
        if (done.kind === "written") written += 1;
        if (done.kind === "refused") refusals.set(status.object, done.reason);
        else refusals.delete(status.object);
        settled.set(status.object, hash);
      }
      return true;
    } finally {
      if (written > before) options.wrote?.(written - before);
    }
  }

  function refusalText(): string {
    const [first] = refusals.values();
    return first === undefined ? "" : `statuses that are refused: ${refusals.size}; the first: ${first}`;
  }

  async function attempt(): Promise<boolean> {
    try {
      await pass();
      tell(refusalText());
      return true;
    } catch (cause) {
      tell(causeText(cause));
      return false;
    }
  }

  return {
    nudge: bell.ring,
    state: () => ({ isHolder: lease.isHeld(), written, refused: refusals.size }),
    async run(signal) {
      let wasHeld = false;
      const changed = (): void => {
        // Whoever wrote meanwhile may have written anything.
        if (lease.isHeld() && !wasHeld) lookedMs = Number.NEGATIVE_INFINITY;
        if (lease.isHeld() !== wasHeld) options.led?.(lease.isHeld());
        wasHeld = lease.isHeld();
        bell.ring();
      };
      signal.addEventListener("abort", bell.ring);
      const keeping = lease.keep(signal, changed);
      let failures = 0;
      while (!signal.aborted) {
        if (lease.isHeld()) failures = (await attempt()) ? 0 : failures + 1;
        else tell(lease.failure());
        const waiting = new AbortController();
        const pause = failures > 0 ? pace.backOff(failures) : pollMs;
        void pace.pause(pause, AbortSignal.any([signal, waiting.signal])).then(() => {
          if (!waiting.signal.aborted) bell.ring();
        });
        await bell.next();
        waiting.abort();
      }
      await keeping;
    },
    async once() {
      if (!(await lease.take()))
        throw new PortolanError("another process writes statuses here and holds the lease; nothing was written");
      const done = new AbortController();
      const keeping = lease.keep(done.signal, () => {});
      try {
        const isWhole = await pass();
        const refusal = refusalText();
        if (refusal !== "") throw new PortolanError(refusal);
        if (!isWhole) throw new PortolanError("another process took the lease; not every status was written");
      } finally {
        done.abort();
        await keeping;
      }
    },
  };
}
