import { RE2JS } from "re2js";
import { PortolanError } from "../../config/diagnostic.ts";
import type { Trace } from "../../trace/decision.ts";
import { usualDirection, withDestination } from "../../trace/destination.ts";
import { nodeResources, type ResourceTexts } from "../../trace/node-resources.ts";
import { trace } from "../../trace/trace.ts";
import { requestOf } from "../../trace/traced-request.ts";

/** A request, as the console asks for its way. */
export interface AskedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  /** What the proxy is for, where it is neither of the two. */
  readonly direction: string | undefined;
  readonly isMutual: boolean;
}

export type TracerAnswer =
  | { readonly kind: "traced"; readonly trace: Trace; readonly direction: "inbound" | "outbound" }
  | { readonly kind: "refused"; readonly reason: string };

/** Follows requests. A port: the edge, which is to stay small, has none. */
export interface Tracer {
  trace(texts: ResourceTexts, asked: AskedRequest): TracerAnswer;
}

/** Loads what follows requests, when somebody first asks. */
export type LoadTracer = () => Promise<Tracer>;

/** Follows requests through what a class has; patterns are matched by RE2, in linear time. */
export const tracer: Tracer = {
  trace(texts, { url, method, headers, direction: wanted, isMutual }) {
    const resources = nodeResources(texts);
    const direction = wanted === "inbound" || wanted === "outbound" ? wanted : usualDirection(resources);
    try {
      const asked = requestOf(url, { direction, method: method.toUpperCase(), headers, isMutual });
      const request = withDestination(resources, asked, new URL(url.replace(/^[^:]+/, "http")).hostname);
      return { kind: "traced", trace: trace(resources, request, readRegex), direction };
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      return { kind: "refused", reason: cause.message };
    }
  },
};

function readRegex(pattern: string): ((text: string) => boolean) | undefined {
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.matches(text);
  } catch {
    return undefined;
  }
}
