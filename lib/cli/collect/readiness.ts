import { Hono } from "hono/tiny";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { CollectorState } from "../../collect/collector.ts";
import type { StatusWriterState } from "../../collect/status/status-writer.ts";
import type { LookupReport } from "../../resolve/lookup-reports.ts";

export interface ReadinessOptions {
  readonly states: () => readonly CollectorState[];
  /** Where statuses are written back. */
  readonly statuses?: (() => StatusWriterState) | undefined;
  /** Seconds after which a source that is not known to be as its origin is counts as stale. */
  readonly staleAfter: number;
  readonly now: () => number;
  /** What has to come first, besides sources, and has not yet; nothing when absent. */
  readonly awaited?: () => Promise<readonly string[]>;
  /** What was looked up in a network; absent where nothing is. */
  readonly lookups?: (() => Promise<readonly LookupReport[]>) | undefined;
  /** With further metrics, those of compiles. */
  readonly registry?: Registry | undefined;
}

/**
 * Seconds since a source was known to be as its origin is; infinite for one that was never filled. Less than nothing where the clock was
 * set back since: then its age is not known.
 */
const ageOf = ({ isFilled, asOfMs }: CollectorState, nowMs: number): number =>
  isFilled && asOfMs > 0 ? (nowMs - asOfMs) / 1000 : Number.POSITIVE_INFINITY;

/**
 * What an orchestrator and Prometheus ask a collector. `/readyz` is 200 while every source is as its origin is, else 503, and says
 * how each one fares; `/livez` is 200 while this runs. Look-ups that fail are listed and change nothing else: what was found before is in
 * force, and another process would fare no better.
 */
export function readinessApp({
  states,
  statuses,
  staleAfter,
  now,
  awaited,
  lookups,
  registry,
}: ReadinessOptions): Hono {
  const app = new Hono();
  const metrics = collectorMetrics(states, statuses, now, registry);

  app.get("/livez", (c) => c.text("ok"));
  app.get("/readyz", async (c) => {
    const waitsFor = (await awaited?.()) ?? [];
    const sources = states().map((state) => {
      const ageSeconds = ageOf(state, now());
      const { source, isFilled, objects, failure } = state;
      const isReady = failure === "" && Math.abs(ageSeconds) <= staleAfter;
      const age = Number.isFinite(ageSeconds) ? { ageSeconds: Math.round(ageSeconds) } : {};
      return { source, isReady, isInSync: isFilled && failure === "", ...age, objects, failure };
    });
    const isReady = waitsFor.length === 0 && sources.every((source) => source.isReady);
    const failing = await failingLookups(lookups);
    const more = {
      ...(waitsFor.length === 0 ? {} : { waitsFor }),
      ...(failing.length === 0 ? {} : { lookups: failing }),
    };
    return c.json({ isReady, ...more, sources }, isReady ? 200 : 503);
  });
  app.get("/metrics", async () => {
    const { contentType, text } = await metrics();
    return new Response(text, { headers: { "content-type": contentType } });
  });
  return app;
}

const maxFailing = 20;

/** Those that fail, as many as are listed; none where the store cannot be read, which is told elsewhere. */
async function failingLookups(lookups: ReadinessOptions["lookups"]): Promise<readonly LookupReport[]> {
  const reports = (await lookups?.().catch(() => undefined)) ?? [];
  return reports.filter(({ state }) => state !== "fresh").slice(0, maxFailing);
}

function collectorMetrics(
  states: ReadinessOptions["states"],
  statuses: ReadinessOptions["statuses"],
  now: () => number,
  registry = new Registry(),
) {
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const labelNames = ["source"];
  const age = new Gauge({
    name: "portolan_source_age_seconds",
    help: "Seconds since the source was last known to equal its origin.",
    labelNames,
    registers,
  });
  const inSync = new Gauge({
    name: "portolan_source_in_sync",
    help: "1 while every part of the origin is watched, else 0.",
    labelNames,
    registers,
  });
  const objects = new Gauge({ name: "portolan_source_objects", help: "Objects of the origin.", labelNames, registers });
  const pushes = new Counter({ name: "portolan_source_pushes_total", help: "Pushes.", labelNames, registers });
  const bytes = new Counter({
    name: "portolan_source_pushed_bytes_total",
    help: "Bytes pushed.",
    labelNames,
    registers,
  });
  const statusMetrics = statuses === undefined ? undefined : metricsOfStatuses(registers);
  return async () => {
    if (statuses !== undefined) statusMetrics?.(statuses());
    pushes.reset();
    bytes.reset();
    for (const state of states()) {
      const { source } = state;
      age.set({ source }, ageOf(state, now()));
      inSync.set({ source }, state.isFilled && state.failure === "" ? 1 : 0);
      objects.set({ source }, state.objects);
      pushes.inc({ source }, state.pushes);
      bytes.inc({ source }, state.pushedBytes);
    }
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
}

function metricsOfStatuses(registers: readonly Registry[]): (state: StatusWriterState) => void {
  const holder = new Gauge({
    name: "portolan_status_holder",
    help: "1 while this process is the leader that writes statuses, else 0.",
    registers: [...registers],
  });
  const written = new Counter({
    name: "portolan_status_writes_total",
    help: "Statuses written back.",
    registers: [...registers],
  });
  const refused = new Gauge({
    name: "portolan_status_refused",
    help: "Statuses of the newest compile that the API server rejects.",
    registers: [...registers],
  });
  return (state) => {
    holder.set(state.isHolder ? 1 : 0);
    refused.set(state.refused);
    written.reset();
    written.inc(state.written);
  };
}
