import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { publishWorld } from "./world.ts";

const moduleAt = (path: string) => new URL(path, import.meta.url).pathname;

/** Secrets of the compile function: one that nobody has guessed, and one that a forge has; and that of a proxy in front. */
export const secrets = {
  operator: "nobody-has-guessed-it",
  github: "shared-with-a-forge",
  proxy: "of-a-proxy-that-passes-on-what-it-gets",
} as const;

/** `guarded`: a front that wants a proof of identity, behind a proxy. */
export type ServerName = "front" | "compile" | "guarded";

/** Fronts and a compile function of Portolan's, each in a process of its own. */
export interface Target {
  /** REST v3, v1, Connect, gRPC-Web over HTTP/1.1. */
  readonly url: string;
  /** gRPC, gRPC-Web, Connect over HTTP/2. */
  readonly grpcUrl: string;
  /** Webhooks, sources, objects. */
  readonly compileUrl: string;
  /** As `url`, of the guarded front. */
  readonly guardedUrl: string;
  readonly servers: Readonly<Record<ServerName, ServerProcess>>;
  close(): Promise<void>;
}

/** Publishes a world into a folder and starts `functions/server.node.ts` on it, and a compile function on another, on free ports of loopback. */
export async function startTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-attack-"));
  await publishWorld(join(folder, "front"));
  const settings = {
    PORTOLAN_STORE: join(folder, "front"),
    HOST: "127.0.0.1",
    PORT: "0",
    // The process that is looked at is the one that serves.
    PORTOLAN_WORKERS: "1",
  };
  const program = moduleAt("../../functions/server.node.ts");
  const front = await startServerProcess(program, { ...settings, PORTOLAN_GRPC_PORT: "0" });
  const guarded = await startServerProcess(program, {
    ...settings,
    PORTOLAN_AUTHENTICATION: JSON.stringify({
      proxy: { secrets: [secrets.proxy], trustDomains: ["cluster.local"] },
    }),
  }).catch(async (cause: unknown) => {
    await front.close();
    throw cause;
  });
  const compile = await startServerProcess(moduleAt("./compile-server.ts"), {
    PORTOLAN_STORE: join(folder, "compile"),
    WEBHOOK_SECRET: secrets.operator,
    GITHUB_SECRETS: JSON.stringify({ main: secrets.github }),
  }).catch(async (cause: unknown) => {
    await Promise.all([front.close(), guarded.close()]);
    throw cause;
  });
  const [guardedUrl = ""] = guarded.urls;
  const [url = "", grpcUrl = ""] = front.urls;
  const [compileUrl = ""] = compile.urls;
  return {
    url,
    grpcUrl,
    compileUrl,
    guardedUrl,
    servers: { front, compile, guarded },
    async close() {
      await Promise.all([front.close(), compile.close(), guarded.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
