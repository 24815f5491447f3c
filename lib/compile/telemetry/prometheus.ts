import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { NothingFilled } from "../world/nothing-filled.ts";
import type { CompileObserver } from "./observer.ts";
import { stopwatch } from "./stopwatch.ts";

/** Seconds: from a small change to a large mesh from nothing. */
const buckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What compiles cost, for Prometheus; docs/operations.md lists the names. */
export function prometheusObserver(registry: Registry, now?: () => number): CompileObserver {
  const registers = [registry];
  const compiles = new Counter({
    name: "portolan_compiles_total",
    help: "Compiles by result.",
    labelNames: ["result"],
    registers,
  });
  const duration = new Histogram({
    name: "portolan_compile_duration_seconds",
    help: "From the beginning of a compile to its end, with publishing.",
    buckets,
    registers,
  });
  const stages = new Histogram({
    name: "portolan_compile_stage_seconds",
    help: "Time of a compile by stage.",
    labelNames: ["stage"],
    buckets,
    registers,
  });
  const queue = new Histogram({
    name: "portolan_compile_queue_seconds",
    help: "From the oldest request that a compile answers to its beginning.",
    buckets,
    registers,
  });
  const memo = new Counter({
    name: "portolan_memo_steps_total",
    help: "Queries of compiles: hit is a result from the cache, miss one that was computed.",
    labelNames: ["result"],
    registers,
  });
  const bytes = new Counter({ name: "portolan_written_bytes_total", help: "Bytes written by publishing.", registers });
  const objects = new Counter({
    name: "portolan_written_objects_total",
    help: "Objects written by publishing.",
    registers,
  });
  const classes = new Gauge({ name: "portolan_classes", help: "Classes of proxies in the newest root.", registers });
  const generation = new Gauge({ name: "portolan_generation", help: "Generation of HEAD.", registers });
  const diagnostics = new Gauge({
    name: "portolan_diagnostics",
    help: "Diagnostics of the newest compile, by severity; an error is an object, or a resource, that is refused.",
    labelNames: ["severity"],
    registers,
  });
  const settingsErrors = new Gauge({
    name: "portolan_mesh_settings_errors",
    help: "Errors of the mesh's settings in the newest compile; the last valid settings are served.",
    registers,
  });
  for (const severity of ["error", "warning"]) diagnostics.set({ severity }, 0);
  const securityFailures = new Gauge({
    name: "portolan_security_failures",
    help: "Security objects and rules of the newest compile that are refused and of which no valid form is known, by what is done: closed or open.",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["closed", "open"]) securityFailures.set({ result }, 0);
  let beganMs: number | undefined;
  const clock = now ?? Date.now;
  new Gauge({
    name: "portolan_compile_running_seconds",
    help: "Seconds since the compile that runs now began; 0 while none runs.",
    registers,
    collect() {
      this.set(beganMs === undefined ? 0 : (clock() - beganMs) / 1000);
    },
  });
  // A rate needs a beginning: the first compile, and the first that fails, are one, too.
  for (const result of ["published", "unchanged", "failed"]) compiles.inc({ result }, 0);
  return stopwatch(
    {
      began() {
        beganMs = clock();
      },
      done(report, { durationMs, queueMs, stageMs }) {
        beganMs = undefined;
        compiles.inc({ result: report.kind });
        duration.observe(durationMs / 1000);
        queue.observe(queueMs / 1000);
        for (const [stage, ms] of stageMs) stages.observe({ stage }, ms / 1000);
        memo.inc({ result: "hit" }, report.memo.hits);
        memo.inc({ result: "miss" }, report.memo.misses);
        bytes.inc(report.bytesWritten);
        objects.inc(report.objectsWritten);
        classes.set(report.classes);
        generation.set(report.generation);
        diagnostics.set({ severity: "error" }, report.errors);
        diagnostics.set({ severity: "warning" }, report.warnings);
        settingsErrors.set(report.settingsErrors);
        securityFailures.set({ result: "closed" }, report.closed);
        securityFailures.set({ result: "open" }, report.open);
      },
      failed(cause, { durationMs, queueMs }) {
        beganMs = undefined;
        compiles.inc({ result: cause instanceof NothingFilled ? "empty" : "failed" });
        duration.observe(durationMs / 1000);
        queue.observe(queueMs / 1000);
      },
    },
    now,
  );
}
