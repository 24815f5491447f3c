import { expect, it } from "vitest";
import { mcpKinds } from "../../lib/mcp/kinds.ts";
import { mcpOrigin } from "../../lib/mcp/origin.ts";
import type { McpStream } from "../../lib/mcp/stream.ts";
import { entry } from "./test-source.ts";

it.each(["resources", "xds"] as const)(
  "a source over %s that is away is asked after longer and longer, anew from the shortest once it was there",
  async (protocol) => {
    const stop = new AbortController();
    const told: string[] = [];
    const failures: number[] = [];
    let heard: () => void = () => {};
    const whole = new Promise<void>((resolve) => {
      heard = resolve;
    });
    let streams = 0;
    /** How many resources it was said to hold, by stream. */
    const held: number[] = [];
    const stream: McpStream = async ({ subscriptions, held: holds, onPush }) => {
      streams += 1;
      held.push(subscriptions.reduce((sum, name) => sum + holds(name).size, 0));
      if (streams === 6) return stop.abort();
      if (streams !== 4) throw new Error("connection refused");
      for (const [at, subscription] of subscriptions.entries()) {
        const resources = at === 0 ? [entry("n/a", "a.test")] : [];
        onPush({ subscription, resources, removed: [], isIncremental: false });
      }
      await whole;
    };
    const origin = mcpOrigin({
      stream,
      protocol,
      address: "mcp://source.test:9901",
      kinds: mcpKinds.filter(({ kind }) => kind === "ServiceEntry"),
      node: "portolan",
      pace: {
        pause: () => new Promise((resolve) => setImmediate(resolve)),
        backOff(count) {
          failures.push(count);
          return count;
        },
      },
    });
    await origin.follow(
      {
        whole(_part, objects) {
          told.push(`whole ${objects.length}`);
          heard();
          return true;
        },
        changed: () => true,
        absent: () => false,
        failed: () => told.push("failed"),
        followed: () => told.push("followed"),
      },
      stop.signal,
    );
    expect(failures).toEqual([1, 2, 3, 1, 2]);
    expect(told).toEqual(["failed", "failed", "failed", "whole 1", "failed", "failed"]);
    // What it has said before outlives that it went.
    expect(held).toEqual([0, 0, 0, 0, 1, 1]);
  },
);
