/** A collector at the edge: a clock wakes it, it follows a cluster for as long as an invocation may take, and has what it pushed compiled. */
import type { R2Bucket } from "@cloudflare/workers-types";
import { PortolanError } from "../lib/base/diagnostic.ts";
import { type Collector, createCollector } from "../lib/collect/collector.ts";
import { readShardState } from "../lib/compile/collected/shard-state.ts";
import { problem } from "../lib/compile/webhook/delivery.ts";
import { flagIn, sourceNamesIn, wholeNumberIn } from "../lib/config/setting-values.ts";
import type { ApiClient } from "../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { r2Store } from "../lib/storage/r2.ts";
import { prefixIn } from "../lib/storage/store-location.ts";

export interface Env {
  readonly SNAPSHOTS: R2Bucket;
  readonly PREFIX?: string;
  /** Name of the source that is filled, which is nobody else's; `kubernetes` when absent. */
  readonly SOURCE?: string;
  /** Id of the cluster, as its proxies know it; `Kubernetes` when absent. */
  readonly CLUSTER?: string;
  /** Address of the API server, `https://host:port`. */
  readonly KUBE_API?: string;
  /** The way to it where it is no public one: a VPC service, or another Worker. */
  readonly KUBE?: Pick<ApiClient, "fetch">;
  /** Secret: bearer token of an account with the rights of infra/kubernetes. */
  readonly PORTOLAN_KUBE_TOKEN?: string;
  /** How long one invocation follows; 50 when absent, for a clock that ticks every minute. */
  readonly RUN_SECONDS?: string;
  /** `true`: the source is taken although it was filled from another cluster. */
  readonly TAKE_OVER?: string;
  /** Told of every push: the queue of the compile function. */
  readonly RECOMPILE?: { send(message: object): Promise<unknown> };
}

/** A Worker has six connections at once, and the bucket needs some of them. */
const width = 4;
/** Pages of objects that are parsed at once, in an isolate's 128 MiB. */
const pageSize = 200;
const mostSize = 32 * 2 ** 20;
/** Older than this, in seconds, and its collector is not at work. */
const staleAfter = 120;

interface Running {
  readonly collector: Collector;
  /** Milliseconds since the epoch: an invocation that is at it by then was ended from outside. */
  untilMs: number;
}

/** One collector for each isolate, which goes on where it ended; a fresh isolate compares with what lies in the bucket. */
const known = new WeakMap<R2Bucket, Running>();

const storeOf = ({ SNAPSHOTS, PREFIX }: Env) => r2Store(SNAPSHOTS, prefixIn("PREFIX", PREFIX));

/** One source, as all names of one are checked: two of them are none. */
function sourceOf({ SOURCE }: Env): string {
  const [source = "", ...more] = sourceNamesIn("SOURCE", SOURCE, "kubernetes");
  if (more.length > 0) throw new PortolanError("SOURCE names several sources; a collector fills one");
  return source;
}

function collectorFor(env: Env): Collector {
  const { PORTOLAN_KUBE_TOKEN: token = "" } = env;
  // An empty setting is none.
  const cluster = env.CLUSTER || "Kubernetes";
  const source = sourceOf(env);
  const baseUrl = (env.KUBE_API ?? "").replace(/(?<!\/)\/+$/, "");
  if (!/^https?:\/\/[^/]+$/.test(baseUrl)) throw new PortolanError("KUBE_API has to be the address of an API server");
  if (token === "") throw new PortolanError("PORTOLAN_KUBE_TOKEN has to be a bearer token for the API server");
  const origin = kubernetesOrigin(
    {
      baseUrl,
      token: async () => token,
      // A token goes to nobody whom an answer names.
      fetch: (url, init) => (env.KUBE ?? globalThis).fetch(url, { ...init, redirect: "manual" }),
    },
    { cluster, width, pageSize },
  );
  return createCollector({
    store: storeOf(env),
    source,
    origin,
    mostSize,
    takeOver: flagIn("TAKE_OVER", env.TAKE_OVER),
    // One key takes one write a second.
    gatherMs: 1_000,
    pushed: async (push) => {
      console.log(JSON.stringify({ event: "pushed", source, ...push }));
      await env.RECOMPILE?.send({ source });
    },
    troubled: (reason) => console.log(JSON.stringify({ event: reason === "" ? "in sync" : "trouble", source, reason })),
  });
}

/** Follows until the time is up. @throws PortolanError where the cluster could not be followed, so that the invocation counts as failed */
async function collect(env: Env): Promise<void> {
  const runMs = 1000 * wholeNumberIn("RUN_SECONDS", env.RUN_SECONDS, { least: 1, most: 900, usual: 50 });
  const before = known.get(env.SNAPSHOTS);
  if (before !== undefined && before.untilMs > Date.now()) return;
  const isEnded = before?.untilMs === 0;
  const collector = isEnded ? before.collector : collectorFor(env);
  const running: Running = { collector, untilMs: Date.now() + runMs + 20_000 };
  known.set(env.SNAPSHOTS, running);
  await collector.run(AbortSignal.timeout(runMs));
  running.untilMs = 0;
  const { failure, isFilled } = collector.state();
  if (failure !== "" || !isFilled)
    throw new PortolanError(failure || `the cluster was not read within ${runMs / 1000} s`);
}

async function readiness(env: Env): Promise<Response> {
  const state = await readShardState(storeOf(env), sourceOf(env));
  const ageSeconds = state === undefined ? undefined : Math.round((Date.now() - state.asOfMs) / 1000);
  const isInSync = state?.failure === "";
  const isReady = isInSync && ageSeconds !== undefined && Math.abs(ageSeconds) <= staleAfter;
  return Response.json({ isReady, isInSync, ageSeconds }, { status: isReady ? 200 : 503 });
}

/** A setting that cannot be read is the operator's to see: the reason is in the log, not in the answer. */
async function readinessOrReason(env: Env): Promise<Response> {
  try {
    return await readiness(env);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    console.error(JSON.stringify({ event: "not ready", reason: cause.message }));
    return problem(503, "a setting or the bucket cannot be read; the log has more");
  }
}

export default {
  fetch: (request: Request, env: Env) =>
    new URL(request.url).pathname === "/readyz" ? readinessOrReason(env) : problem(404, "there is nothing but /readyz"),
  scheduled: (_event: unknown, env: Env) => collect(env),
};
