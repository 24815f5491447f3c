import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { HeadFacts } from "../snapshot/head/head-facts.ts";
import { resourceTypes } from "../snapshot/resource-type.ts";
import type { FrontMetrics, Outcome } from "./metrics.ts";

/** Metrics of one process, and of those that serve as one front with it. */
export interface PrometheusMetrics extends FrontMetrics {
  /** This process's own series. */
  series(): Promise<readonly object[]>;
}

export interface PrometheusOptions {
  /** Series of the other processes, a list each; absent: this one is alone. */
  readonly siblings?: (() => Promise<readonly (readonly object[])[]>) | undefined;
  /** To which others may add theirs. Absent: one of its own. */
  readonly registry?: Registry;
  /** Seconds by source since each was known to be as its origin is; asked with every scrape. Absent: nobody says. */
  readonly sourceAges?: () => Promise<ReadonlyMap<string, number>>;
  /** How old is what was looked up, by host, and how often that failed; asked with every scrape. Absent: nobody says. */
  readonly lookupFacts?: () => Promise<readonly LookupFacts[]>;
  /** What lies between what is served and what is newest; asked with every scrape. Absent: nobody says. */
  readonly headFacts?: () => Promise<HeadFacts | undefined>;
}

/** Of the look-ups of one host. */
interface LookupFacts {
  readonly kind: string;
  readonly host: string;
  readonly ageSeconds: number;
  readonly failed: number;
}

/** What a node may refuse. */
const refusable = [...resourceTypes, "secrets"] as const;

/** Counts for Prometheus, Node's own process metrics among them. */
export function prometheusMetrics({
  registry = new Registry(),
  sourceAges,
  lookupFacts,
  headFacts,
  siblings,
}: PrometheusOptions = {}): PrometheusMetrics {
  collectDefaultMetrics({ register: registry });
  /** Counted here, and told when somebody asks: to look a series up for each poll costs more than the rest of counting it. */
  const polled = new Map<string, Map<Outcome, number>>();
  new Counter({
    name: "portolan_polls_total",
    help: "Answered polls, and answers on streams, by type of resource and outcome.",
    labelNames: ["type", "outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [type, outcomes] of polled)
        for (const [outcome, count] of outcomes) this.inc({ type, outcome }, count);
    },
  });
  const held = new Gauge({ name: "portolan_polls_held", help: "Polls being held.", registers: [registry] });
  const streams = new Gauge({
    name: "portolan_streams",
    help: "Discovery streams that are open.",
    registers: [registry],
  });
  const refusals = new Counter({
    name: "portolan_refusals_total",
    help: "Answers that a node has refused: reported, or inferred because it kept polling with the version before.",
    labelNames: ["type"],
    registers: [registry],
  });
  /** Absent until a front says it. */
  let active: Parameters<NonNullable<FrontMetrics["refusing"]>>[0] | undefined;
  new Gauge({
    name: "portolan_refusals_standing",
    help: "Active NACKs: each node keeps the last version that it accepted.",
    labelNames: ["type"],
    registers: [registry],
    collect() {
      for (const type of refusable) this.set({ type }, 0);
      for (const type of active?.() ?? []) this.inc({ type });
    },
  });
  let countNodes: Parameters<NonNullable<FrontMetrics["nodes"]>>[0] | undefined;
  const nodes = new Gauge({
    name: "portolan_nodes",
    help: "Proxies of this front by state: synced, stale, refused, not-sent, gone. Gone ones are counted for 15 minutes.",
    labelNames: ["state"],
    registers: [registry],
    // Processes that serve as one front know of the same nodes together.
    aggregator: "max",
    async collect() {
      const counts = await countNodes?.().catch(() => undefined);
      nodes.reset();
      for (const [state, count] of Object.entries(counts ?? {})) nodes.set({ state }, count);
    },
  });
  const headErrors = new Counter({
    name: "portolan_head_errors_total",
    help: "Failed reads of HEAD; the last one read is still served.",
    registers: [registry],
  });
  const serverErrors = new Counter({
    name: "portolan_server_errors_total",
    help: "Errors of the front's own servers, such as connections that could not be accepted; each lost one connection.",
    registers: [registry],
  });
  const ages = new Gauge({
    name: "portolan_source_age_seconds",
    help: "Seconds since a collected source was last known to be as its origin is.",
    labelNames: ["source"],
    registers: [registry],
    aggregator: "max",
    async collect() {
      const now = await sourceAges?.().catch(() => undefined);
      // A store that is silent says nothing of an age, and least of all the one of a while ago.
      ages.reset();
      for (const [source, age] of now ?? []) ages.set({ source }, age);
    },
  });
  if (lookupFacts !== undefined) mountLookupFacts(registry, lookupFacts);
  if (headFacts !== undefined) mountHeadFacts(registry, headFacts);
  // A rate needs a beginning: the first refusal is one, too.
  for (const type of refusable) refusals.inc({ type }, 0);
  return {
    poll(type, outcome) {
      const outcomes = polled.get(type) ?? new Map<Outcome, number>();
      if (outcomes.size === 0) polled.set(type, outcomes);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },
    held: (difference) => held.inc(difference),
    stream: (difference) => streams.inc(difference),
    refusal: (type) => refusals.inc({ type }),
    refusing(asked) {
      active = asked;
    },
    nodes(counts) {
      countNodes = counts;
    },
    headError: () => headErrors.inc(),
    serverError: () => serverErrors.inc(),
    series: () => registry.getMetricsAsJSON(),
    async render() {
      const others = (await siblings?.()) ?? [];
      const { contentType } = registry;
      if (others.length === 0) return { contentType, text: await registry.metrics() };
      const all = [await registry.getMetricsAsJSON(), ...others.map((series) => [...series])];
      return { contentType, text: await AggregatorRegistry.aggregate(all).metrics() };
    },
  };
}

/** Reads once for all series that one scrape collects. @returns undefined where that fails: a store that is silent says nothing */
function oncePerScrape<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let asked: Promise<T | undefined> | undefined;
  return () => {
    asked ??= read()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
}

function mountLookupFacts(registry: Registry, lookupFacts: NonNullable<PrometheusOptions["lookupFacts"]>): void {
  const facts = oncePerScrape(lookupFacts);
  type Lookup = Awaited<ReturnType<typeof lookupFacts>>[number];
  const shared = (name: string, help: string, valueOf: (lookup: Lookup) => number) => ({
    name,
    help,
    labelNames: ["kind", "host"] as const,
    registers: [registry],
    // Processes that serve as one front read one store.
    aggregator: "max" as const,
    /** A gauge and a counter are both at 0 after a reset. */
    async collect(this: Pick<Gauge<"kind" | "host">, "reset" | "inc">) {
      const now = (await facts()) ?? [];
      this.reset();
      for (const lookup of now) this.inc({ kind: lookup.kind, host: lookup.host }, valueOf(lookup));
    },
  });
  const age = "Seconds since what a host was asked for was last read, or was first asked for in vain.";
  new Gauge(shared("portolan_resolver_age_seconds", age, ({ ageSeconds }) => ageSeconds));
  const failures = "Attempts to read something of a host that failed.";
  new Counter(shared("portolan_resolver_failures_total", failures, ({ failed }) => failed));
}

function mountHeadFacts(registry: Registry, headFacts: NonNullable<PrometheusOptions["headFacts"]>): void {
  const facts = oncePerScrape(headFacts);
  const gauge = (name: string, help: string, valueOf: (now: HeadFacts) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      // Processes that serve as one front read one HEAD.
      aggregator: "max",
      async collect() {
        const now = await facts();
        // As for ages: a store that is silent says nothing.
        if (now === undefined) this.remove();
        else this.set(valueOf(now));
      },
    });
  const steps = "Steps of HEAD that are still to come until its newest root serves all nodes.";
  gauge("portolan_head_steps", steps, ({ stepsToCome }) => stepsToCome);
  gauge("portolan_head_canary", "1 while a part of the nodes tries a root, else 0.", ({ hasCanary }) =>
    Number(hasCanary),
  );
  gauge("portolan_head_pinned", "1 while a pin holds what is served, else 0.", ({ isPinned }) => Number(isPinned));
}
