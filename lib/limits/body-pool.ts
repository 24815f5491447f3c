import type { Limits } from "./limits.ts";

/** The bytes of all bodies that are being read. When they run out, whoever has been sending longest gives way to whoever came later. */
export interface BodyPool {
  /** @param giveWay told that others need the bytes: the share is given back, and what it stood for is to be let go */
  open(giveWay: () => void): BodyShare;
}

export interface BodyShare {
  /** @returns false when there is not so much, even without the bodies that began before this one */
  take(bytes: number): boolean;
  /** Gives everything back; nothing may be taken afterwards. */
  close(): void;
}

export function createBodyPool({ bodiesBytes }: Pick<Limits, "bodiesBytes">): BodyPool {
  let left = bodiesBytes;
  /** Those that have something, in the order in which they first took it. */
  const shares = new Map<BodyShare, () => void>();
  return {
    open(giveWay) {
      let taken = 0;
      const share: BodyShare = {
        take(bytes) {
          if (taken + bytes > bodiesBytes) return false;
          while (bytes > left) {
            const [oldest] = shares;
            // There is one: what is taken is taken by shares, and this one fits alone.
            if (oldest === undefined || oldest[0] === share) return false;
            oldest[0].close();
            oldest[1]();
          }
          if (bytes > 0) shares.set(share, giveWay);
          left -= bytes;
          taken += bytes;
          return true;
        },
        close() {
          shares.delete(share);
          left += taken;
          taken = 0;
        },
      };
      return share;
    },
  };
}
