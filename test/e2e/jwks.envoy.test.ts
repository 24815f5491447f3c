import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { limits } from "../../lib/limits/limits.ts";
import { lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { createResolver } from "../../lib/resolve/resolver.ts";
import { resolvingCompiler } from "../../lib/resolve/resolving-compiler.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { openIssuer } from "../resolve/issuer.ts";
import { noDns } from "../resolve/name-server.ts";
import { openBookshop, rejections, shopHost, startGateway } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { asker } from "./fail-closed-mesh.ts";
import { tokenPolicies } from "./token-policies.ts";
import { startTraffic } from "./traffic.ts";

const minute = 60_000;

/** The bookshop behind a gateway that asks for tokens of an issuer, and a clock that is moved by hand. */
async function openGuarded(transport: "poll" | "delta") {
  const [shop, issuer] = await Promise.all([openBookshop(), openIssuer()]);
  const store = memoryStore();
  let aheadMs = 0;
  const allowedHosts = new Set(["localhost"]);
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts, caBundle: issuer.caBundle }),
    askDns: noDns,
    allowedHosts,
    withinMs: 5_000,
    now: () => Date.now() + aheadMs,
  });
  const world = { ...defaultWorldOptions, certificates: "none", binaryForms: true } as const;
  const leased = createLeasedCompiler({ store, world, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });
  const front = createFront({ store, maxHoldMs: 1_000 });
  const polls = await serveHttp(frontApp(front), 0, "127.0.0.1", limits);
  const streams = await serveGrpc(front, 0, "127.0.0.1");
  await writeShard(store, "main", await readFolder(shop.folder));
  await compile();
  const envoy = await (transport === "poll"
    ? startGateway(polls.url, { certificates: "none" })
    : startGateway(streams.url, { transport, certificates: "none" }));
  const ask = asker(shop.port);
  const statusWith = async (token?: string): Promise<number> =>
    (await ask("/catalog", token === undefined ? {} : { authorization: `Bearer ${token}` })).status;
  return {
    issuer,
    envoy,
    port: shop.port,
    statusWith,
    compile: () => compile(),
    report: async () => (await lookupReports(store))[0],
    pass: (ms: number) => {
      aheadMs += ms;
    },
    async guard() {
      await shop.add("tokens.yaml", tokenPolicies(`{ issuer: "${issuer.url}", jwksUri: "${issuer.jwksUri}" }`));
      await writeShard(store, "main", await readFolder(shop.folder));
      await compile();
    },
    async close() {
      await envoy.stop();
      await Promise.all([polls.close(), streams.close(), issuer.close(), shop.close()]);
      front.close();
    },
  };
}

describe.each(["poll", "delta"] as const)(
  "an Envoy (%s) before which an issuer's tokens are asked for",
  (transport) => {
    let shop: Awaited<ReturnType<typeof openGuarded>>;
    let token: string;

    beforeAll(async () => {
      shop = await openGuarded(transport);
      token = await shop.issuer.token();
    }, 120_000);
    afterAll(() => shop?.close());

    /** Waits until a token is answered so. */
    const answered = (one: string | undefined, status: number) =>
      eventually(
        () => shop.statusWith(one),
        (seen) => seen === status,
        30_000,
      );

    it("lets tokens of the issuer pass, and no others", async () => {
      await shop.guard();
      await answered(undefined, 403);
      await answered(token, 200);
      expect(await shop.statusWith(`${token.slice(0, -8)}AAAAAAAA`)).toBe(401);
    }, 60_000);

    it("follows a rotation of its keys, and no request fails meanwhile", async () => {
      const traffic = startTraffic(shop.port, shopHost, "/catalog", 4, { authorization: `Bearer ${token}` });
      await shop.issuer.rotate(true);
      const next = await shop.issuer.token();
      expect(await shop.statusWith(next)).toBe(401);
      shop.pass(21 * minute);
      await shop.compile();
      await answered(next, 200);
      await traffic.stop();
      expect([...traffic.counts().keys()].every((name) => name.startsWith("catalog-"))).toBe(true);
      await shop.issuer.rotate(false);
      token = await shop.issuer.token();
      shop.pass(21 * minute);
      await shop.compile();
      await answered(token, 200);
      await answered(next, 401);
    }, 90_000);

    it("goes on taking tokens through an hour without its issuer, and says since when", async () => {
      const traffic = startTraffic(shop.port, shopHost, "/catalog", 4, { authorization: `Bearer ${token}` });
      await eventually(
        async () => [...traffic.counts().values()].reduce((sum, count) => sum + count, 0),
        (count) => count > 20,
      );
      shop.issuer.answer((request) => request.socket.destroy());
      for (let passed = 0; passed < 60; passed += 10) {
        shop.pass(10 * minute);
        await shop.compile();
      }
      await traffic.stop();
      expect([...traffic.counts().keys()].every((name) => name.startsWith("catalog-"))).toBe(true);
      expect(await shop.statusWith(token)).toBe(200);
      expect(await shop.report()).toMatchObject({ state: "stale", problem: expect.stringContaining("socket") });
      expect(await rejections(shop.envoy)).toEqual([]);
    }, 90_000);
  },
);
