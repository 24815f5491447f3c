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
  readonly untilMs: number;
}

export function createKnownTokens(now: () => number, maxBytes: number = limits.tokenBytes): KnownTokens {
  const known = createByteCache<Known>(maxBytes);
  return {
    of(token) {
      const before = known.get(token);
      return before !== undefined && now() < before.untilMs ? before.found : undefined;
    },
    keep(token, found, expiresSeconds) {
      const untilMs = Math.min(now() + verifiedMs, expiresSeconds * 1_000);
      if (found.kind === "identified") known.set(token, { found, untilMs }, besides + 2 * token.length);
    },
  };
}
