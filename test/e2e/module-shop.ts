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
import { noDns } from "../resolve/name-server.ts";
import { type Bytes, openRegistry } from "../resolve/registry.ts";
import { openBookshop } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { asker } from "./fail-closed-mesh.ts";

/** A WasmPlugin of the bookshop's gateway. */
export const plugin = (spec: string) => `
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: teapot, namespace: bookshop }
spec: { selector: { matchLabels: { istio: ingressgateway } }, phase: AUTHN, ${spec} }
`;

/** The same code with the status 422: 0xa2 0x03 is 418, 0xa6 0x03 is 422. */
export function with422(teapot: Bytes): Bytes {
  const next = teapot.slice();
  next[next.findIndex((byte, index) => byte === 0xa2 && next[index + 1] === 0x03)] = 0xa6;
  return next;
}

/** The bookshop, a registry that its extensions are in, a server of its configuration, and a clock that is moved by hand. */
export async function openModuleShop() {
  const [shop, registry] = await Promise.all([openBookshop(), openRegistry()]);
  const store = memoryStore();
  let aheadMs = 0;
  const allowedHosts = new Set(["localhost"]);
  const resolve = createResolver({
    store,
    fetch: createNodeFetch({ allowedHosts, caBundle: registry.caBundle }),
    askDns: noDns,
    allowedHosts,
    withinMs: 5_000,
    now: () => Date.now() + aheadMs,
  });
  const world = { ...defaultWorldOptions, certificates: "none", binaryForms: true } as const;
  const leased = createLeasedCompiler({ store, world, pace: { quietMs: 0 } });
  const compile = resolvingCompiler(leased, resolve, { info() {}, warn() {}, error() {} });

  /** @param ports those of before, 0 for any */
  async function serve(ports: { readonly http: number; readonly grpc: number }) {
    const front = createFront({ store, maxHoldMs: 1_000 });
    const http = await serveHttp(frontApp(front), ports.http, "127.0.0.1", limits);
    const grpc = await serveGrpc(front, ports.grpc);
    return {
      url: http.url,
      grpcUrl: grpc.url,
      async close() {
        front.close();
        await Promise.all([http.close(), grpc.close()]);
      },
    };
  }
  let server = await serve({ http: 0, grpc: 0 });
  const { url, grpcUrl } = server;
  await writeShard(store, "main", await readFolder(shop.folder));
  await compile();
  const ask = asker(shop.port);
  /** Compiles, and gives the codes of what is said. */
  const said = async () =>
    (await compile()).diagnostics.map(({ code }) => code).filter((one) => one !== "without-certificates");
  return {
    registry,
    url,
    grpcUrl,
    stopServer: () => server.close(),
    async startServer() {
      server = await serve({ http: Number(new URL(url).port), grpc: Number(new URL(grpcUrl).port) });
    },
    reports: () => lookupReports(store),
    /** Asks until an answer has a status. @returns all that came, each once; 0 where no gateway answers */
    async answers(wanted: number) {
      const seen = new Set<number>();
      const asked = async () => {
        const { status } = await ask("/catalog", {}).catch(() => ({ status: 0 }));
        seen.add(status);
        return status;
      };
      await eventually(asked, (status) => status === wanted, 120_000);
      return [...seen];
    },
    pass: (ms: number) => {
      aheadMs += ms;
    },
    compile: said,
    async write(text: string) {
      await shop.add("teapot.yaml", text);
      await writeShard(store, "main", await readFolder(shop.folder));
      return said();
    },
    async close() {
      await Promise.all([server.close(), registry.close(), shop.close()]);
    },
  };
}
