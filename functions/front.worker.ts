/** The front at the edge: serves the snapshots in an R2 bucket, without the compiler. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { frontApp } from "../lib/front/app.ts";
import { createFront } from "../lib/front/front.ts";
import { r2Store } from "../lib/storage/r2.ts";

export interface Env {
  readonly SNAPSHOTS: R2Bucket;
  /** Part of the bucket that this mesh lives in, with a slash at its end; empty for the whole bucket. */
  readonly PREFIX?: string;
  /** Longest time to hold a poll, in milliseconds; 0 answers at once. */
  readonly MAX_HOLD_MS?: string;
}

type App = ReturnType<typeof frontApp>;
/** One app for each isolate, so that HEAD and segments stay in its memory from request to request. */
const apps = new WeakMap<R2Bucket, App>();

function appFor(env: Env): App {
  const known = apps.get(env.SNAPSHOTS);
  if (known !== undefined) return known;
  const front = createFront({
    store: r2Store(env.SNAPSHOTS, env.PREFIX),
    maxHoldMs: Number(env.MAX_HOLD_MS ?? 0),
    onError: (cause) => console.error(String(cause)),
    onRefusal: (refusal) => console.warn(JSON.stringify(refusal)),
  });
  const app = frontApp(front);
  apps.set(env.SNAPSHOTS, app);
  return app;
}

export default {
  fetch: (request: Request, env: Env) => appFor(env).fetch(request, env),
};
