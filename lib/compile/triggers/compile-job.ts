import { PortolanError } from "../../base/diagnostic.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { Clock } from "../clock.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import type { HeldLease } from "./lease.ts";
import { failedOutcome } from "./lease-note.ts";
import type { Pace } from "./pace.ts";

/**
 * One compile.
 *
 * @param mayPublish called between compiling and publishing; rejects when another process compiles by now
 * @param late aborted when the compile has taken too long, and its result is given up
 * @param deaths how many processes in a row have ended in the midst of this compile
 */
export type Compile = (
  publishing: Publishing | undefined,
  mayPublish: () => Promise<void>,
  late?: AbortSignal,
  deaths?: number,
) => Promise<Recompiled>;

/**
 * Compiles under a lease, within `pace.turnMs`, and gives the lease back with the outcome. A compile that hangs continues without effect:
 * it may not publish any more. One that has begun to move HEAD gets another `pace.leaseMs`, and is never reported as given up.
 *
 * @throws PortolanError when the compile fails, is late, or has lost the lease
 */
export async function runJob(
  lease: HeldLease,
  publishing: Publishing | undefined,
  { compile, pace, clock }: { readonly compile: Compile; readonly pace: Pace; readonly clock: Clock },
): Promise<Recompiled> {
  const deadline = createDeadline(pace, clock);
  const mayPublish = async () => {
    deadline.check();
    await lease.verify();
    deadline.check();
    deadline.publishing();
  };
  const isShared = publishing?.share === undefined;
  try {
    const compiled = await Promise.race([
      compile(publishing, mayPublish, deadline.signal, lease.deaths),
      deadline.passed,
    ]);
    const { diagnostics: _diagnostics, ...told } = compiled;
    await lease.end(isShared ? { kind: "compiled", told } : undefined);
    return compiled;
  } catch (cause) {
    await lease.end(isShared ? failedOutcome(cause) : undefined);
    throw cause;
  } finally {
    deadline.clear();
  }
}

/** The time that a job has. */
interface Deadline {
  /** Aborted once the time is over. */
  readonly signal: AbortSignal;
  /** Rejects once the time is over, and never resolves. */
  readonly passed: Promise<never>;
  /** @throws PortolanError once the time is over */
  check(): void;
  /** HEAD may be moved from here on. */
  publishing(): void;
  clear(): void;
}

function createDeadline(pace: Pace, clock: Clock): Deadline {
  let mayHavePublished = false;
  const ended = new AbortController();
  const passed = Promise.withResolvers<never>();
  const end = (message: string) => {
    ended.abort();
    passed.reject(new PortolanError(message));
  };
  let cancelTimer = clock.after(pace.turnMs, () => {
    if (mayHavePublished) cancelTimer = clock.after(pace.leaseMs, () => end(unknownOutcome(pace)));
    else end(`the compile was not done within ${pace.turnMs / 1000} s and is given up`);
  });
  return {
    signal: ended.signal,
    passed: passed.promise,
    check() {
      if (ended.signal.aborted) throw new PortolanError("this compile was given up, and publishes nothing");
    },
    publishing() {
      mayHavePublished = true;
    },
    clear: () => cancelTimer(),
  };
}

const unknownOutcome = ({ turnMs }: Pace): string =>
  `the compile had begun to move HEAD when its ${turnMs / 1000} s were over, and it is not known whether HEAD moved; ` +
  "`portolan status` shows what is served. Ask again: a compile of the same sources changes nothing";
