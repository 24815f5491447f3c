import { readdirSync, readFileSync } from "node:fs";
import { consoleFiles } from "../../gen/console.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront, type Front, type FrontOptions } from "../../lib/front/front.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { recordedNodes } from "../../lib/front/nodes/node-records.ts";
import { storeMoves } from "../../lib/front/operate/store-moves.ts";
import type { ConsoleFile } from "../../lib/front/shell/console-routes.ts";
import { tracer } from "../../lib/front/tracing/tracer.ts";
import { limits } from "../../lib/limits/limits.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { createPublisher, type Publisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

/** What follows requests in a browser: at the edge a static file beside the others. */
function followFile(): ConsoleFile {
  const folder = new URL("../../gen/console/console/", import.meta.url);
  const name = readdirSync(folder).find((file) => file.startsWith("follow-")) ?? "";
  const text = readFileSync(new URL(name, folder), "utf8");
  return { path: `/console/${name}`, type: "text/javascript; charset=utf-8", isFixed: true, text };
}

export interface Shop {
  readonly url: string;
  readonly store: ObjectStore;
  readonly front: Front;
  readonly publisher: Publisher;
  publish(world: CompiledWorld): Promise<void>;
  /** The sample, with its texts changed. */
  compile(edit?: (text: string) => string): Promise<CompiledWorld>;
  close(): Promise<void>;
}

/** A front with the console, of a mesh that was published twice: `samples/bookshop`, then with another share for the catalogue; or once, or not yet. */
export async function startShop(options: Partial<FrontOptions> = {}, versions: 0 | 1 | 2 = 2): Promise<Shop> {
  const store = options.store ?? memoryStore();
  const pace = { settleMs: 0, retentionMs: 0 };
  const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 0, limits, onError: () => {} });
  const front = createFront({
    headTtlMs: 0,
    nodes,
    loadTracer: async () => tracer,
    moves: storeMoves(store, { pace }),
    ...options,
    store,
  });
  const server: RunningServer = await serveHttp(
    frontApp(front, async () => [...consoleFiles, followFile()]),
    0,
    "127.0.0.1",
    limits,
  );
  const publisher = createPublisher(store, { pace });
  const compiler = createFileCompiler(defaultWorldOptions);
  const files = await readFolder(new URL("../../samples/bookshop", import.meta.url).pathname);
  const shop: Shop = {
    url: server.url,
    store,
    front,
    publisher,
    async publish(world) {
      await publisher.publish(world, await publisher.head());
    },
    compile: async (edit = (text) => text) =>
      compiler(
        files.map(({ file, text }) => ({ file, text: edit(text) })),
        [],
      ).value,
    async close() {
      front.close();
      await server.close();
    },
  };
  if (versions > 0) await shop.publish(await shop.compile());
  if (versions > 1)
    await shop.publish(
      await shop.compile((text) => text.replace("weight: 90", "weight: 70").replace("weight: 10", "weight: 30")),
    );
  return shop;
}
