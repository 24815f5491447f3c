import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepAlive } from "../../../lib/front/connect/grpc-server.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** As Node's: a ping on a session that is destroyed throws, and `close` comes later. */
class Session extends EventEmitter {
  destroyed = false;
  pings = 0;
  destroy(): void {
    this.destroyed = true;
  }
  ping(): boolean {
    if (this.destroyed) throw new Error("ERR_HTTP2_INVALID_SESSION");
    this.pings += 1;
    return true;
  }
}

it("does not ask a connection that is destroyed and not closed yet whether somebody is there", () => {
  const session = new Session();
  const kept = new Set<unknown>();
  keepAlive(session, 1_000, kept);
  vi.advanceTimersByTime(1_000);
  session.destroy();
  vi.advanceTimersByTime(5_000);
  expect(session.pings).toBe(1);
  session.emit("close");
  expect([kept.size, vi.getTimerCount()]).toEqual([0, 0]);
});
