import type { AddressInfo, Server, Socket } from "node:net";
import { z } from "zod";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { runPortolan } from "../run-portolan.ts";

export const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
export const gateway = "istio-ingressgateway-1.bookshop";

/** A store in which the bookshop is published. @param binaryForms whether answers are stored in binary, too */
export async function publishedShop(binaryForms = false): Promise<ObjectStore> {
  const store = memoryStore();
  await writeShard(store, "main", await readFolder(samples));
  await createRecompiler({ store, sources: ["main"], world: { ...defaultWorldOptions, binaryForms } })();
  return store;
}

/** A server that listens on this machine, by its port, and ends with all its connections. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export async function listening(server: Server, host = "localhost"): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // Whoever asks may go away in the middle.
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a text
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const findings = z.object({
  failed: z.number(),
  checks: z.array(z.object({ check: z.string(), status: z.string(), text: z.string(), remedy: z.string().optional() })),
});

/** What `portolan doctor` finds, by the names of its checks. */
export async function doctor(...args: readonly string[]) {
  const { code, out, err } = await runPortolan("doctor", ...args, "--json");
  const { failed, checks } = findings.parse(JSON.parse(out));
  const of = (name: string) => checks.find(({ check }) => check === name);
  return {
    code,
    err,
    failed,
    checks,
    /** `status: text` of a check. */
    said: (name: string) => `${of(name)?.status}: ${of(name)?.text}`,
    remedy: (name: string) => of(name)?.remedy ?? "",
    statuses: Object.fromEntries(checks.map(({ check, status }) => [check, status])),
  };
}
