/** The compile function at the edge: signed requests, a queue and a clock make it compile what the sources hold. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { createRecompiler, type Recompiled } from "../lib/compile/recompile.ts";
import { webhookApp } from "../lib/compile/webhook/app.ts";
import { coalesce } from "../lib/compile/webhook/coalesce.ts";
import { defaultWorldOptions } from "../lib/compile/world-of.ts";
import { r2Store } from "../lib/storage/r2.ts";

export interface Env {
  readonly SNAPSHOTS: R2Bucket;
  readonly PREFIX?: string;
  /** Names of the source shards, separated by commas, the primary first. */
  readonly SOURCES?: string;
  readonly PORTOLAN_WEBHOOK_SECRET?: string;
  /** `true` stores binary forms, which the front serves over Connect and gRPC-Web. */
  readonly BINARY_FORMS?: string;
}

interface Compiler {
  readonly recompile: () => Promise<Recompiled>;
  readonly app: ReturnType<typeof webhookApp>;
}

/** One compiler for each isolate, so that what did not change is not compiled again. */
const compilers = new WeakMap<R2Bucket, Compiler>();

function compilerFor(env: Env): Compiler {
  const known = compilers.get(env.SNAPSHOTS);
  if (known !== undefined) return known;
  const store = r2Store(env.SNAPSHOTS, env.PREFIX);
  const world = { ...defaultWorldOptions, binaryForms: env.BINARY_FORMS === "true" };
  const sources = (env.SOURCES ?? "main").split(",");
  const recompile = coalesce(createRecompiler({ store, sources, world }));
  const onError = (cause: unknown) => console.error(String(cause));
  const app = webhookApp({ store, recompile, sources, secret: env.PORTOLAN_WEBHOOK_SECRET ?? "", onError });
  const compiler = { recompile, app };
  compilers.set(env.SNAPSHOTS, compiler);
  return compiler;
}

export default {
  fetch: (request: Request, env: Env) => compilerFor(env).app.fetch(request, env),
  scheduled: async (_event: unknown, env: Env) => {
    await compilerFor(env).recompile();
  },
  queue: async (_batch: unknown, env: Env) => {
    await compilerFor(env).recompile();
  },
};
