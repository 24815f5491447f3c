import type { Place } from "../../trace/decision.ts";
import type { Traced } from "../api/schema/trace.ts";
import type { TracerAnswer } from "./tracer.ts";

/** A request that was followed to its end. */
export type TracedAnswer = Extract<TracerAnswer, { readonly kind: "traced" }>;

type TraceAnswer = Omit<Traced, "root" | "class">;
type DecisionAnswer = TraceAnswer["decisions"][number];

/** The objects behind a decision, and their causes. */
export type DecisionSources = Pick<DecisionAnswer, "from" | "causes">;

const maxEndpoints = 50;

/** The source objects that matter at a position of a resource: a filter's policies, or all of them. */
export function fromAt({ behind }: Place, from: readonly string[]): readonly string[] {
  if (behind === undefined) return from;
  const kinds = behind.flatMap((one) =>
    one.kind === "kind" ? [one.name] : one.kind === "issuer" ? ["RequestAuthentication"] : [],
  );
  const keys = new Set(behind.flatMap((one) => (one.kind === "object" ? [one.key] : [])));
  return from.filter((key) => keys.has(key) || kinds.some((kind) => key.startsWith(`${kind}/`)));
}

/** The answer of `/api/trace`. */
export function traceAnswer(
  { trace, direction }: TracedAnswer,
  behind: (place: Place) => DecisionSources,
): TraceAnswer {
  type Decided = (typeof trace.decisions)[number];
  const decisionAnswer = ({
    step,
    chosen,
    verdict,
    why,
    place,
    passedOver,
    morePassedOver,
  }: Decided): DecisionAnswer => ({
    step,
    ...(chosen === undefined ? {} : { chosen }),
    ...(verdict === undefined ? {} : { verdict }),
    why,
    ...(place === undefined ? {} : { place: { type: place.type, name: place.name } }),
    ...(place === undefined ? { from: [], causes: [] } : behind(place)),
    passedOver,
    morePassedOver,
  });
  return {
    direction,
    decisions: trace.decisions.map(decisionAnswer),
    httpFilters: trace.httpFilters,
    ways: trace.ways.map(({ sharePercent, decisions, dependsOn, end }) => {
      const endpoints = end.kind === "endpoints" ? end.endpoints : [];
      return {
        sharePercent,
        decisions: decisions.map(decisionAnswer),
        dependsOn,
        end: endText(end),
        endpoints: endpoints.slice(0, maxEndpoints).map(({ address, port, sharePercent: share }) => ({
          address: port === 0 ? address : `${address.includes(":") ? `[${address}]` : address}:${port}`,
          ...(share === undefined ? {} : { sharePercent: share }),
        })),
        moreEndpoints: Math.max(endpoints.length - maxEndpoints, 0),
      };
    }),
  };
}

type End = TracedAnswer["trace"]["ways"][number]["end"];

function endText(end: End): string {
  switch (end.kind) {
    case "endpoints":
      return `to the endpoints of ${end.cluster}`;
    case "original destination":
      return `to where it was going, ${end.address ?? "an address that is not known"}:${end.port}`;
    case "redirect":
      return `redirected with ${end.status} to ${end.location}`;
    case "response":
      return `answered with ${end.status}: ${end.why}`;
    case "closed":
      return `the connection is closed: ${end.why}`;
    case "not known":
      return `not known: ${end.why}`;
  }
}

/** `name: value` line by line. */
export function headersIn(text: string): readonly (readonly [string, string])[] {
  return text.split("\n").flatMap((line) => {
    const [, name, value] = /^([^:\s]+):(.*)$/s.exec(line.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value.trimStart()] as const];
  });
}
