import { forwardClock } from "../base/forward-clock.ts";
import type { Unwrapped, WrappedKey, WrappingKey } from "./key-wrapper.ts";
import type { SecretKey } from "./secret-name.ts";

/** How long a service is taken at its word: whoever disables a key is heard after that. */
export const freshMs = 5 * 60_000;
/** How long a data key serves while the service says nothing. */
export const graceMs = 12 * 3_600_000;
/** How soon a service that did not open a data key is asked for it again. */
export const retryMs = 5_000;
const warningMs = 60_000;
const maxKept = 1_000;

export interface CacheOptions {
  /** In milliseconds. */
  readonly now: () => number;
  /** Hears of a service that says nothing, at most once a minute. */
  readonly onWarning: (message: string) => void;
}

interface Kept {
  readonly said: Unwrapped;
  readonly saidMs: number;
  /** When the service last opened it, and what came out. */
  readonly opened: { readonly by: Unwrapped; readonly atMs: number } | undefined;
}

/**
 * Remembers what a key management service opens, so that polls do not ask it each. A refusal ends what was opened before; silence does
 * not, for hours. Whoever asks for the same data key at a time shares one call.
 */
export function rememberDataKeys(key: WrappingKey, { now, onWarning }: CacheOptions): WrappingKey {
  const agedMs = forwardClock(now);
  /** The one that was asked for longest ago comes first. */
  const kept = new Map<string, Kept>();
  const asking = new Map<string, Promise<Unwrapped>>();
  let warnedMs = Number.NEGATIVE_INFINITY;

  function keep(id: string, one: Kept): void {
    kept.delete(id);
    kept.set(id, one);
    for (const [oldest, { saidMs }] of kept) {
      if (kept.size <= maxKept && agedMs() - saidMs < graceMs) break;
      kept.delete(oldest);
    }
  }

  /** What counts: silence does not speak against what was opened before. */
  function answer({ said, opened }: Kept): Unwrapped {
    if (said.kind !== "unavailable" || opened === undefined || agedMs() - opened.atMs >= graceMs) return said;
    if (agedMs() - warnedMs >= warningMs) {
      warnedMs = agedMs();
      const until = new Date(now() + opened.atMs + graceMs - agedMs()).toISOString();
      onWarning(`${said.reason}; secrets that were opened before are used until ${until}`);
    }
    return opened.by;
  }

  async function ask(id: string, wrapped: WrappedKey, secret: SecretKey): Promise<Unwrapped> {
    const before = kept.get(id);
    const said = await key.unwrap(wrapped, secret);
    const saidMs = agedMs();
    const opened = {
      opened: { by: said, atMs: saidMs },
      unavailable: before?.opened,
      refused: undefined,
      foreign: undefined,
    };
    const one = { said, saidMs, opened: opened[said.kind] };
    keep(id, one);
    return answer(one);
  }

  return {
    wrap: key.wrap,
    async unwrap(wrapped, secret) {
      const id = [secret.namespace, secret.name, wrapped.id, wrapped.wrapped].join("\n");
      const before = kept.get(id);
      if (before !== undefined && agedMs() - before.saidMs < lasts(before.said)) return answer(before);
      const running = asking.get(id);
      if (running !== undefined) return running;
      const asked = ask(id, wrapped, secret).finally(() => asking.delete(id));
      asking.set(id, asked);
      return asked;
    },
  };
}

const lasts = ({ kind }: Unwrapped): number => (kind === "opened" || kind === "foreign" ? freshMs : retryMs);
