import { AsyncLocalStorage } from "node:async_hooks";
import type { ExecutionContext, Queue, R2Bucket } from "@cloudflare/workers-types";
import { PortolanError } from "../lib/base/diagnostic.ts";
import type { CertificateAuthority } from "../lib/ca/certificate-authority.ts";
import type { AuthoritySetting } from "../lib/ca/open-authority.ts";
import { caHoursIn, choiceIn, maxHoldLimitMs, usualHoldMs, wholeNumberIn } from "../lib/config/setting-values.ts";
import { type FrontApp, frontApp } from "../lib/front/app.ts";
import { undecidedAuthentication } from "../lib/front/auth/authentication.ts";
import { readAuthentication } from "../lib/front/auth/settings.ts";
import { createFront, type Front } from "../lib/front/front.ts";
import { cacheRecords, type EdgeCache, sharedCdsAcks } from "../lib/front/heads/shared-cds-acks.ts";
import { twoStores } from "../lib/front/heads/two-stores.ts";
import { problem } from "../lib/front/requests/answer.ts";
import { responseOf } from "../lib/front/requests/fetch-adapter.ts";
import { secretsFromSetting } from "../lib/secrets/secrets-from-setting.ts";
import { readTrusted } from "../lib/snapshot/head/signing-keys.ts";
import { cachedObjects, type ObjectCache } from "../lib/snapshot/packs/cached-objects.ts";
import { r2Store } from "../lib/storage/r2.ts";
import { prefixIn } from "../lib/storage/store-location.ts";
import { certificateLog } from "./certificate-log.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";

/** What wrangler.toml binds. */
export interface FrontEnv {
  readonly SNAPSHOTS: R2Bucket;
  /** A copy of that bucket, as `portolan replicate` keeps it: read where the first does not answer, or is older. */
  readonly SNAPSHOTS_COPY?: R2Bucket;
  /** Where secrets lie, if not in the same bucket: one that the compile function does not reach. */
  readonly SECRETS?: R2Bucket;
  /** Part of the bucket that this mesh lives in, with a slash at its end; empty for the whole bucket. */
  readonly PREFIX?: string;
  /** Longest time to hold a poll, in milliseconds; 0 answers at once, 25000 when absent. More than 90000 is 90000. */
  readonly MAX_HOLD_MS?: string;
  /** `off`, or JSON; docs/security.md describes it. Nobody is served without. */
  readonly AUTHENTICATION?: string;
  /** Public keys of which one must have signed HEAD; without them any HEAD is followed. */
  readonly TRUSTED_KEYS?: string;
  /** Key to the secrets in the store; without it none are served. A secret of the Worker's. */
  readonly PORTOLAN_SECRETS_KEY?: string;
  /** `on`: workloads' certificates are signed, with the CA beside the secrets; of `front-certificates.worker.ts` alone. */
  readonly CA?: string;
  /** Longest validity of a certificate; 24 hours when absent. */
  readonly CA_MAX_HOURS?: string;
  /** Queue of the compile function; without it nodes that have no class of their own are not waited for. */
  readonly RECOMPILE?: Queue;
  /** How many requests an address may make; without it nothing is counted. */
  readonly RATE_LIMIT?: RateLimit;
}

type App = Pick<FrontApp, "fetch">;

/** The invocation that work belongs to. What it still does when it has answered ends with it, unless it is said to go on. */
const invocations = new AsyncLocalStorage<Pick<ExecutionContext, "waitUntil">>();
const goesOn = (work: Promise<unknown>): void => invocations.getStore()?.waitUntil(work);

/** Cloudflare ends a request whose answer does not begin within 100 s. @see docs/how-platforms-behave.md */
const platformHoldMs = 90_000;

/**
 * How long polls are held, in milliseconds.
 *
 * @param text the setting MAX_HOLD_MS
 * @throws PortolanError for what is no whole number in its bounds
 */
export const holdMsIn = (text: string | undefined): number =>
  Math.min(wholeNumberIn("MAX_HOLD_MS", text, { least: 0, most: maxHoldLimitMs, usual: usualHoldMs }), platformHoldMs);

/**
 * Finds or makes the app of a Worker's isolate, so that HEAD and segments stay in its memory from request to request.
 *
 * @param extend adds what a Worker serves besides REST
 * @param openAuthority opens the CA, where this Worker may be one
 */
export function workerFront(
  extend: (app: FrontApp, front: Front) => void = () => {},
  openAuthority?: (setting: AuthoritySetting) => CertificateAuthority,
): (env: FrontEnv) => App {
  const apps = new WeakMap<R2Bucket, App>();
  return (env) => {
    const known = apps.get(env.SNAPSHOTS);
    if (known !== undefined) return known;
    const app = readable(() => appOf(env, extend, openAuthority));
    apps.set(env.SNAPSHOTS, app);
    return app;
  };
}

/** The app, or one that says what keeps it from being made: a setting that cannot be read is the operator's to see. */
function readable(make: () => App): App {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    console.error(cause.message);
    return { fetch: async () => responseOf(problem(500, "a setting cannot be read; the log has more")) };
  }
}

function appOf(
  env: FrontEnv,
  extend: (app: FrontApp, front: Front) => void,
  openAuthority: Parameters<typeof workerFront>[1],
): App {
  const { AUTHENTICATION: setting = "", RECOMPILE: queue } = env;
  // The runtime's own, which the types of browsers do not know.
  const { default: edgeCache }: { readonly default?: EdgeCache & ObjectCache } =
    Reflect.get(globalThis, "caches") ?? {};
  const prefix = prefixIn("PREFIX", env.PREFIX);
  const original = r2Store(env.SNAPSHOTS, prefix);
  const trust = readTrusted(env.TRUSTED_KEYS, "TRUSTED_KEYS");
  const bucket =
    env.SNAPSHOTS_COPY === undefined ? original : twoStores(original, r2Store(env.SNAPSHOTS_COPY, prefix), trust);
  const store = edgeCache === undefined ? bucket : cachedObjects(bucket, edgeCache, { scope: prefix, goesOn });
  const secretStore = env.SECRETS === undefined ? bucket : r2Store(env.SECRETS, prefix);
  const maxHours = caHoursIn("CA_MAX_HOURS", env.CA_MAX_HOURS);
  const isCa = choiceIn("CA", env.CA, ["on", "off"]) === "on";
  if (isCa && openAuthority === undefined)
    throw new PortolanError(
      "CA is on, and this Worker signs no certificates: deploy functions/front-certificates.worker.ts",
    );
  const authority = (isCa ? openAuthority : undefined)?.({
    store: secretStore,
    secretsKey: env.PORTOLAN_SECRETS_KEY,
    maxHours,
    onError: (cause) => console.error(String(cause)),
  });
  const front = createFront({
    store,
    authority,
    ...certificateLog,
    ...secretsFromSetting(secretStore, env.PORTOLAN_SECRETS_KEY, "PORTOLAN_SECRETS_KEY"),
    ...trust,
    maxHoldMs: holdMsIn(env.MAX_HOLD_MS),
    authentication: setting === "" ? undecidedAuthentication : readAuthentication(setting, { name: "AUTHENTICATION" }),
    ...(edgeCache === undefined
      ? {}
      : {
          cdsAcks: sharedCdsAcks(cacheRecords(edgeCache), {
            onError: (cause) => console.error(String(cause)),
          }),
        }),
    ...(queue === undefined ? {} : { onWanted: () => queue.send({ why: "a node needs a class" }) }),
    onError: (cause) => console.error(String(cause)),
    onRefusal: (refusal) => console.warn(JSON.stringify(refusal)),
  });
  const app = frontApp(front);
  extend(app, front);
  return app;
}

/** A Worker that answers with the app of its environment. */
export function frontHandler(appFor: (env: FrontEnv) => App) {
  const rates = createRateLimiter(console.error);
  return {
    fetch: (request: Request, env: FrontEnv, context: Pick<ExecutionContext, "waitUntil">): Promise<Response> =>
      rates.answer({ request, limit: env.RATE_LIMIT, context }, () =>
        invocations.run(context, async () => appFor(env).fetch(request, env)),
      ),
  };
}
