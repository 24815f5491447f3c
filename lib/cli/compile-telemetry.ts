import type { Registry } from "prom-client";
import { type CompileObserver, observers } from "../compile/telemetry/observer.ts";
import { spansToCollector } from "../compile/telemetry/otlp.ts";
import { prometheusObserver } from "../compile/telemetry/prometheus.ts";

/** What a process tells of its compiles. */
export interface CompileTelemetry {
  readonly observer: CompileObserver;
  /** Sends what is not sent yet; a collector of spans that cannot be reached holds nobody up. */
  close(): Promise<void>;
}

/** Metrics beside those of a registry, and spans where OpenTelemetry's variables say where to. */
export async function compileTelemetry(registry: Registry): Promise<CompileTelemetry> {
  const spans = await spansToCollector(process.env);
  return {
    observer: observers([prometheusObserver(registry), ...(spans === undefined ? [] : [spans.observer])]),
    close: async () => {
      await spans?.flush().catch(() => {});
    },
  };
}
