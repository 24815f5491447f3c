import { describe, expect, it } from "vitest";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";
import { fragileStore } from "../fragile-store.ts";

const secret = "s3cret";

/** A compile function on a store that fails. */
async function fragilePlace() {
  const sound = memoryStore();
  const { store, ...fragile } = fragileStore(sound);
  const log: string[] = [];
  const onError = (cause: unknown) => log.push(String(cause));
  const pace = { quietMs: 0, leaseMs: 300 };
  const app = () =>
    webhookApp({
      store,
      recompile: createLeasedCompiler({ store, sources: ["main"], pace, onError }),
      secrets: { ...noSecrets, operators: [secret] },
      sources: ["main"],
      onError,
    });
  let deliveries = 0;
  const ask = async (one = app()) => {
    deliveries += 1;
    const request = { method: "POST", target: "/hooks/recompile", body: new Uint8Array() };
    const headers = await signRequest(secret, request, `d${deliveries}`, Date.now());
    return one.request(request.target, { method: "POST", headers });
  };
  await writeShard(sound, "main", await weightedShop(10));
  return {
    sound,
    app,
    ask,
    log,
    ...fragile,
  };
}

describe("a store that fails between two writes", () => {
  it("leaves HEAD untouched, gives the reason in log and answer, and the next trigger mends it, wherever it fails", async () => {
    const place = await fragilePlace();
    expect(await (await place.ask()).json()).toMatchObject({ kind: "published" });
    await writeShard(place.sound, "main", await weightedShop(11));
    const probe = await fragilePlace();
    await probe.ask();
    await writeShard(probe.sound, "main", await weightedShop(11));
    const count = await probe.writes(() => probe.ask());
    expect(count).toBeGreaterThan(8);

    for (let after = 0; after < count; after += 1) {
      const before = (await readHead(place.sound))?.head;
      await writeShard(place.sound, "main", await weightedShop(20 + after));
      // The same process asks again, and another one.
      const app = after % 2 === 0 ? place.app() : undefined;
      place.log.length = 0;
      place.break(after);
      const failed = await place.ask(app);
      place.mend();
      const now = (await readHead(place.sound))?.head;
      // After HEAD there are the ends of the lease and of the delivery to write, and what the analysers found.
      if (after < count - 4) expect([failed.status, now]).toEqual([503, before]);
      if (failed.status === 503)
        expect(await failed.json()).toMatchObject({ detail: expect.stringContaining("the store took no more at") });
      expect(place.log.join("\n")).toContain("the store took no more at");
      const mended = await place.ask(app);
      expect(mended.status).toBe(200);
      expect((await readHead(place.sound))?.head.generation).toBe((before?.generation ?? 0) + 1);
    }
  }, 120_000);
});
