import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { lookupFacts, lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeDns } from "../../lib/resolve/node-dns.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { newestRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { type Issuer, openIssuer } from "./issuer.ts";
import { type NameServer, openNameServer } from "./name-server.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const gateway = "gw.net2.example";
const allowedHosts = new Set(["localhost"]);

let issuer: Issuer;
let names: NameServer;
beforeAll(async () => {
  [issuer, names] = await Promise.all([openIssuer(), openNameServer()]);
});
afterAll(() => Promise.all([issuer.close(), names.close()]));

const files = () => [
  {
    file: "tokens.yaml",
    text: `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: shop }
spec: { jwtRules: [{ issuer: me, jwksUri: "${issuer.jwksUri}" }] }
`,
  },
  { file: "networks.yaml", text: `networks: { net2: { gateways: [{ address: ${gateway}, port: 15443 }] } }\n` },
];

/** A process that compiles and looks up, with a clock of its own. */
function openProcess(store: ObjectStore) {
  let offMs = 0;
  const now = () => Date.now() + offMs;
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts, caBundle: issuer.caBundle }),
    askDns: createNodeDns([names.address]),
    allowedHosts,
    withinMs: 5_000,
    now,
  });
  const leased = createLeasedCompiler({ store, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  return {
    compile: () => compile(),
    now,
    set(ms: number) {
      offMs = ms;
    },
  };
}

const found = async (store: ObjectStore) =>
  (await lookupReports(store)).map(({ kind, keys, addresses }) => ({ kind, keys, addresses }));

async function newest(store: ObjectStore): Promise<string | undefined> {
  const read = await readHead(store);
  return read && newestRoot(read.head);
}

describe("a clock that is a day off", () => {
  it.each([
    ["ahead, and set right", day],
    ["behind, and set right", -day],
  ])("(%s) costs one look-up each time it moves, and nothing that is in force", async (_how, offMs) => {
    const store = memoryStore();
    names.set(gateway, ["192.0.2.9"], 600);
    issuer.answer(undefined);
    const one = openProcess(store);
    await writeShard(store, "main", files());
    expect((await one.compile()).diagnostics).toEqual([]);
    const before = await found(store);
    const version = await newest(store);
    for (const ms of [offMs, 0, offMs, 0]) {
      const asked = issuer.asked();
      one.set(ms);
      for (let run = 0; run < 5; run += 1) await one.compile();
      expect(issuer.asked() - asked).toBeLessThanOrEqual(1);
      expect(await found(store)).toEqual(before);
    }
    expect(await newest(store)).toBe(version);
  });

  it("keeps the last good keys and addresses where the network is away as well, and no age is below 0", async () => {
    const store = memoryStore();
    names.set(gateway, ["192.0.2.9"], 600);
    issuer.answer(undefined);
    const one = openProcess(store);
    await writeShard(store, "main", files());
    await one.compile();
    const before = await found(store);
    issuer.answer((request) => request.socket.destroy());
    names.fail("SERVFAIL");
    try {
      for (const ms of [day, -day, 0]) {
        one.set(ms);
        expect((await one.compile()).diagnostics).toEqual([]);
        expect(await found(store)).toEqual(before);
        for (const seenFrom of [one.now(), one.now() - 2 * day])
          for (const { ageSeconds } of await lookupFacts(store, () => seenFrom))
            expect(ageSeconds).toBeGreaterThanOrEqual(0);
      }
    } finally {
      issuer.answer(undefined);
      names.fail(undefined);
    }
  });

  it("counts for nothing where the store shows its own, by which ages are told too", async () => {
    let storeMs = Date.now();
    const store = memoryStore(() => storeMs);
    names.set(gateway, ["192.0.2.9"], 600);
    const [one, other] = [openProcess(store), openProcess(store)];
    other.set(day);
    await writeShard(store, "main", files());
    await one.compile();
    const asked = issuer.asked();
    for (let run = 0; run < 5; run += 1) for (const process of [other, one]) await process.compile();
    expect(issuer.asked()).toBe(asked);
    storeMs += 5 * minute;
    for (const { ageSeconds } of await lookupFacts(store, other.now)) expect(ageSeconds).toBe(300);
  });
});
