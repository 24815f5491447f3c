import { PortolanError } from "../../base/diagnostic.ts";
import type { Trace } from "../../trace/decision.ts";
import { usualDirection, withDestination } from "../../trace/destination.ts";
import { nodeResources, type ResourceTexts } from "../../trace/node-resources.ts";
import { trace } from "../../trace/trace.ts";
import { claimsOf, requestOf } from "../../trace/traced-request.ts";
import { readRegex } from "./read-regex.ts";

/** A request, as the console asks for its way. */
export interface AskedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  /** What the proxy is for, where it is neither of the two. */
  readonly direction: string | undefined;
  readonly isMutual: boolean;
  /** The client's address; "" where it is not known. */
  readonly from: string;
  /** Of the proxy whose mutual TLS it comes in; "" for none. */
  readonly principal: string;
  /** Claims of a good token, as JSON; "" for none. */
  readonly claims: string;
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
  trace(texts, { url, method, headers, direction: wanted, isMutual, from, principal, claims }) {
    const resources = nodeResources(texts);
    const direction = wanted === "inbound" || wanted === "outbound" ? wanted : usualDirection(resources);
    try {
      const asked = requestOf(url, {
        direction,
        method: method.toUpperCase(),
        headers,
        isMutual: isMutual || principal !== "",
        ...(from === "" ? {} : { source: { address: from } }),
        ...(principal === "" ? {} : { identity: principal }),
        ...(claims === "" ? {} : { claims: claimsOf(claims) }),
      });
      const request = withDestination(resources, asked, new URL(url.replace(/^[^:]+/, "http")).hostname);
      return { kind: "traced", trace: trace(resources, request, readRegex), direction };
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      return { kind: "refused", reason: cause.message };
    }
  },
};
