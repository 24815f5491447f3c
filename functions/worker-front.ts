import type { R2Bucket } from "@cloudflare/workers-types";
import { frontApp } from "../lib/front/app.ts";
import { createFront, type Front } from "../lib/front/front.ts";
import { r2Store } from "../lib/storage/r2.ts";

/** What wrangler.toml binds. */
export interface FrontEnv {
  readonly SNAPSHOTS: R2Bucket;
  /** Part of the bucket that this mesh lives in, with a slash at its end; empty for the whole bucket. */
  readonly PREFIX?: string;
  /** Longest time to hold a poll, in milliseconds; 0 answers at once. */
  readonly MAX_HOLD_MS?: string;
}

type App = ReturnType<typeof frontApp>;

/**
 * Finds or makes the app of a Worker's isolate, so that HEAD and segments stay in its memory from request to request.
 *
 * @param extend adds what a Worker serves besides REST
 */
export function workerFront(extend: (app: App, front: Front) => void = () => {}): (env: FrontEnv) => App {
  const apps = new WeakMap<R2Bucket, App>();
  return (env) => {
    const known = apps.get(env.SNAPSHOTS);
    if (known !== undefined) return known;
    const front = createFront({
      store: r2Store(env.SNAPSHOTS, env.PREFIX),
      maxHoldMs: Number(env.MAX_HOLD_MS ?? 0),
      onError: (cause) => console.error(String(cause)),
      onRefusal: (refusal) => console.warn(JSON.stringify(refusal)),
    });
    const app = frontApp(front);
    extend(app, front);
    apps.set(env.SNAPSHOTS, app);
    return app;
  };
}
