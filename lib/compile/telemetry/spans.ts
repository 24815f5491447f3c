import { context, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { CompileObserver } from "./observer.ts";

/** A span for each compile, and one in it for each of its stages. */
export function spanObserver(tracer: Tracer, now: () => number = Date.now): CompileObserver {
  let oldestAskMs: number | undefined;
  return {
    asked(sentMs = now()) {
      oldestAskMs = Math.min(sentMs, oldestAskMs ?? sentMs);
    },
    begin() {
      const whole = tracer.startSpan("compile");
      if (oldestAskMs !== undefined) whole.setAttribute("portolan.queue_ms", Math.max(0, now() - oldestAskMs));
      oldestAskMs = undefined;
      const within = trace.setSpan(context.active(), whole);
      return {
        stage(name) {
          const span = tracer.startSpan(`compile ${name}`, {}, within);
          return () => span.end();
        },
        done({ memo, ...report }) {
          for (const [name, value] of Object.entries({ ...report, memo_hits: memo.hits, memo_misses: memo.misses }))
            whole.setAttribute(`portolan.${name}`, value);
          whole.end();
        },
        failed(cause) {
          whole.recordException(cause instanceof Error ? cause : String(cause));
          whole.setStatus({ code: SpanStatusCode.ERROR, message: String(cause) });
          whole.end();
        },
      };
    },
  };
}
