import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { FrontMetrics } from "./metrics.ts";

/** Counts for Prometheus, Node's own process metrics among them. @param registry to which others may add theirs */
export function prometheusMetrics(registry: Registry = new Registry()): FrontMetrics {
  collectDefaultMetrics({ register: registry });
  const polls = new Counter({
    name: "portolan_polls_total",
    help: "Answered polls, and answers on streams, by type of resource and outcome.",
    labelNames: ["type", "outcome"],
    registers: [registry],
  });
  const held = new Gauge({ name: "portolan_polls_held", help: "Polls being held.", registers: [registry] });
  const streams = new Gauge({
    name: "portolan_streams",
    help: "Discovery streams that are open.",
    registers: [registry],
  });
  const refusals = new Counter({
    name: "portolan_refusals_total",
    help: "Answers that a node has refused: it said so, or kept asking with the version before.",
    labelNames: ["type"],
    registers: [registry],
  });
  const headErrors = new Counter({
    name: "portolan_head_errors_total",
    help: "Failed reads of HEAD; the last one read goes on being served.",
    registers: [registry],
  });
  return {
    poll: (type, outcome) => polls.inc({ type, outcome }),
    held: (difference) => held.inc(difference),
    stream: (difference) => streams.inc(difference),
    refusal: (type) => refusals.inc({ type }),
    headError: () => headErrors.inc(),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
