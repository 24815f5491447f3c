/** What the front says of real Envoys, by each way that they are told: of one that takes what it gets, that refuses it, and that is killed. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapFor } from "../../lib/cli/proxy/bootstrap.ts";
import type { Nodes } from "../../lib/front/api/schema/nodes.ts";
import { runPortolan } from "../cli/run-portolan.ts";
import { clearAgent, startAgent } from "./agent-process.ts";
import { type Bookshop, gatewayOfShop, openBookshop, shopHost, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";
import { get } from "./sidecars.ts";

/** Lua that no Envoy can compile, in a filter that Portolan has no reason to leave out. */
const badLua = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: bad-lua, namespace: bookshop}
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match: {context: GATEWAY}
      patch:
        operation: INSERT_BEFORE
        value:
          name: envoy.filters.http.lua
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
            default_source_code: {inline_string: "function envoy_on_request( this is no Lua"}
`;

let shop: Bookshop;
let dev: Awaited<ReturnType<typeof startDev>>;

beforeAll(async () => {
  shop = await openBookshop();
  dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
}, 60_000);

afterAll(async () => {
  await dev?.stop();
  await shop?.close();
});

/** A process that runs an Envoy, and what kills it at once. */
interface Started {
  kill(): Promise<void>;
}

const gateways: Readonly<Record<"poll" | "stream" | "delta" | "agent", () => Promise<Started>>> = {
  poll: async () => killable(await startGateway(dev.url, { certificates: "none", pollDelayMs: 200 })),
  stream: async () => killable(await startGateway(dev.grpcUrl, { certificates: "none", transport: "sotw" })),
  delta: async () => killable(await startGateway(dev.grpcUrl, { certificates: "none", transport: "delta" })),
  async agent() {
    const bootstrap = bootstrapFor(await gatewayOfShop(), dev.url, 0, { certificates: "none" });
    const agent = await startAgent({ bootstrap, args: ["--server", dev.url] });
    return {
      async kill() {
        await agent.end("SIGKILL");
        await clearAgent(agent.folder);
      },
    };
  },
};

const killable = (envoy: Awaited<ReturnType<typeof startGateway>>): Started => ({
  async kill() {
    process.kill(envoy.pid, "SIGKILL");
    await envoy.stop().catch(() => {});
  },
});

type NodeAnswer = Nodes["nodes"][number];

/** The gateway, as the front's API says it. */
async function gateway(): Promise<NodeAnswer | undefined> {
  const { nodes }: Nodes = JSON.parse(await (await fetch(`${dev.url}/api/nodes`)).text());
  return nodes.find(({ name }) => name.includes("gateway"));
}

const listenersOf = (node: NodeAnswer | undefined) => node?.resources.find(({ type }) => type === "listeners");
const answers = async () =>
  (await get({ port: shop.port, path: "/catalog", headers: { host: shopHost } }).catch(() => undefined))?.status;
const proxyStatus = async () => (await runPortolan("proxy-status", "--server", dev.url)).out;

describe.each(["poll", "stream", "delta", "agent"] as const)("an Envoy that is told by way of: %s", (way) => {
  it("is synced, refused with its file and line while it keeps what it had, synced again, and stale when it is killed", async () => {
    const started = await gateways[way]();
    let isRunning = true;
    try {
      const synced = (node: NodeAnswer | undefined) =>
        node?.presence === "connected" && node.state === "synced" && listenersOf(node) !== undefined;
      const first = await eventually(gateway, synced, 30_000);
      await eventually(answers, (status) => status === 200);
      const kept = listenersOf(first)?.accepted;
      expect(kept).toBe(listenersOf(first)?.served);

      await shop.add("bad-lua.yaml", badLua);
      const refusing = await eventually(gateway, (node) => node?.state === "refused", 30_000);
      expect(refusing?.presence).toBe("connected");
      const listeners = listenersOf(refusing);
      expect(listeners).toMatchObject({
        state: "refused",
        accepted: kept,
        refused: {
          version: listeners?.served,
          parts: [{ from: expect.arrayContaining(["EnvoyFilter/bookshop/bad-lua"]) }],
        },
      });
      expect(listeners?.refused?.parts.flatMap(({ at }) => at)).toContain("bad-lua.yaml:1");
      // Over REST an Envoy has no word for it.
      if (way === "poll") expect(listeners?.refused?.reason).toBeUndefined();
      else expect(listeners?.refused?.reason).toMatch(/lua/i);
      expect(await answers()).toBe(200);
      const text = await proxyStatus();
      expect(text).toContain("REFUSED");
      expect(text).toContain(`keeps ${kept?.slice(0, 12)}`);
      expect(text).toContain("bad-lua.yaml:1");

      await rm(join(shop.folder, "bad-lua.yaml"));
      await eventually(gateway, synced, 30_000);

      await started.kill();
      isRunning = false;
      const away = await eventually(gateway, (node) => node?.presence !== "connected", 20_000);
      expect([away?.presence, away?.state, ...(away?.resources.map(({ state }) => state) ?? [])]).not.toContain(
        "synced",
      );
      expect(away?.state).toBe("stale");
      expect(await proxyStatus()).toMatch(/STALE .*stale, \d+s ago/);
    } finally {
      if (isRunning) await started.kill();
      await rm(join(shop.folder, "bad-lua.yaml"), { force: true });
    }
  }, 120_000);
});

it("is not refused any more when the Envoy that refused has ended", async () => {
  const started = await gateways.stream();
  await eventually(gateway, (node) => node?.presence === "connected" && node.state === "synced", 30_000);
  await shop.add("bad-lua.yaml", badLua);
  await eventually(gateway, (node) => node?.state === "refused", 30_000);
  await started.kill();
  await eventually(gateway, (node) => node?.state === "stale", 20_000);
  expect(await (await fetch(`${dev.url}/refusals`)).json()).toEqual({ refusals: [] });
}, 60_000);
