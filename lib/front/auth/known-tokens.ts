import { forwardClock } from "../../base/forward-clock.ts";
import { createByteCache } from "../../limits/byte-cache.ts";
import { limits } from "../../limits/limits.ts";
import type { Identified } from "./authentication.ts";

/** Tokens that hold, known again: a node sends the same with every poll, and to check a signature costs more than to answer. */
export interface KnownTokens {
  /** What a token was found to say; undefined when it has to be verified. */
  of(token: string): Identified | undefined;
  /** @param expiresSeconds when it ends, since the epoch */
  keep(token: string, found: Identified, expiresSeconds: number): void;
}

/** Until then a key that its issuer has withdrawn may still count. */
const verifiedMs = 60_000;

/** What is kept of a token besides its text. */
const besides = 500;

interface Known {
  readonly found: Identified;
  /** By the clock of ages. */
  readonly verifiedUntilMs: number;
  /** By the clock of tokens. */
  readonly expiresMs: number;
}

export function createKnownTokens(now: () => number, maxBytes: number = limits.tokenBytes): KnownTokens {
  const known = createByteCache<Known>(maxBytes);
  const agedMs = forwardClock(now);
  return {
    of(token) {
      const before = known.get(token);
      if (before === undefined || agedMs() >= before.verifiedUntilMs || now() >= before.expiresMs) return undefined;
      return before.found;
    },
    keep(token, found, expiresSeconds) {
      if (found.kind !== "identified") return;
      const one = { found, verifiedUntilMs: agedMs() + verifiedMs, expiresMs: expiresSeconds * 1_000 };
      known.set(token, one, besides + 2 * token.length);
    },
  };
}
