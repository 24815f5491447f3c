import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createBodyPool } from "../../../lib/limits/body-pool.ts";
import { messagesOf } from "../../../lib/streams/read-messages.ts";

const head = (length: number): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes;
};

describe("a message that was announced", () => {
  it("takes the room of what has come of it, and none from others for what has not", async () => {
    const pool = createBodyPool({ bodiesBytes: 1_000 });
    let gaveWay = 0;
    const rest = Promise.withResolvers<void>();
    async function* chunks() {
      yield Buffer.concat([head(900), Buffer.alloc(100, 1)]);
      await rest.promise;
      for (let i = 0; i < 8; i += 1) yield Buffer.alloc(100, 1);
    }
    const giveWay = () => {
      gaveWay += 1;
    };
    const first = messagesOf(chunks(), { maxBytes: 1_000, unpack: async (message) => message, pool, giveWay }).next();
    await turn();
    const other = pool.open(() => {});
    expect([other.take(900), gaveWay]).toEqual([true, 0]);
    other.close();
    rest.resolve();
    expect((await first).value).toEqual(new Uint8Array(900).fill(1));
  });
});
