import type { CompileObserver } from "./observer.ts";

/** Spans on their way to a collector. */
export interface SpanExport {
  readonly observer: CompileObserver;
  /** Sends what is not sent yet: before a function is frozen, and before a process ends. */
  flush(): Promise<void>;
}

/** The variables by which OpenTelemetry's own SDK is told where spans go. */
export type OtelEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Sends spans where OpenTelemetry's variables say (`OTEL_EXPORTER_OTLP_ENDPOINT` and its like), over OTLP with HTTP. The SDK is loaded
 * only then.
 *
 * @returns undefined where nobody has said
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export async function spansToCollector(env: OtelEnvironment): Promise<SpanExport | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT ?? "";
  const isOff = env.OTEL_SDK_DISABLED === "true" || env.OTEL_TRACES_EXPORTER === "none";
  if (endpoint === "" || isOff) return undefined;
  const { TracerProvider, BatchSpanProcessor } = await import("@opentelemetry/sdk-trace");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { resourceFromAttributes } = await import("@opentelemetry/resources");
  const { spanObserver } = await import("./spans.ts");
  const name = env.OTEL_SERVICE_NAME ?? "";
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": name === "" ? "portolan-compile" : name }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return {
    observer: spanObserver(provider.getTracer("portolan")),
    flush: () => provider.forceFlush(),
  };
}
