import type { RouteJson, VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import { type Decision, decided, type End, type PassedOver, percent } from "./decision.ts";
import { partOf } from "./filters/fraction.ts";
import { type MatchContext, routeMismatch } from "./route-match.ts";

/** A route that takes requests, or a part of them. */
export interface ChosenRoute {
  /** Above 0, at most 1. */
  readonly share: number;
  /** Absent where no route was asked. */
  readonly decision?: Decision;
  /** Absent where none fits: Envoy answers 404. */
  readonly route?: RouteJson;
  /** Whether it cannot be said here that the route takes it. */
  readonly isUncertain: boolean;
  /** What the router answers without a route. */
  readonly end?: End;
}

/**
 * Which route of a virtual host takes a request: the first that fits. One with a fraction takes that part, and leaves the rest to those
 * behind it.
 *
 * @param tableName of the route table
 * @returns shares add up to 1
 */
export function chooseRoutes(tableName: string, host: VirtualHostJson, context: MatchContext): readonly ChosenRoute[] {
  const { name: virtualHost = "", routes = [], matcher } = host;
  if (matcher !== undefined) {
    const why = "the virtual host chooses by a matcher, which is not followed here";
    return [{ share: 1, decision: decided({ step: "route", why }), isUncertain: true }];
  }
  const passed: PassedOver[] = [];
  const chosen: ChosenRoute[] = [];
  let left = 1;
  for (const [index, route] of routes.entries()) {
    const match = route.match ?? {};
    const mismatch = routeMismatch(match, context);
    if (mismatch?.isCertain === true) {
      passed.push({ name: routeText(route, index), why: mismatch.why });
      continue;
    }
    const fraction = fractionOf(route);
    const share = left * Math.min(1, fraction);
    const place = { type: "routes", name: tableName, virtualHost, index } as const;
    const part = fraction < 1 ? `, for ${percent(fraction)} % of its requests` : "";
    const why = mismatch === undefined ? `${takes(route)}${part}` : `it may fit: ${mismatch.why}`;
    const decision = decided({ step: "route", chosen: routeText(route, index), place, why }, nearest(passed));
    if (share > 0) chosen.push({ share, decision, route, isUncertain: mismatch !== undefined });
    if (mismatch !== undefined) return chosen;
    left -= share;
    // What is left of a sum of fractions may be a rounding error.
    if (left < 1e-9) return chosen;
    passed.push({ name: routeText(route, index), why: `it takes ${percent(fraction)} % only` });
  }
  const why = `none of ${routes.length} routes fits: Envoy answers 404`;
  return [...chosen, { share: left, decision: decided({ step: "route", why }, nearest(passed)), isUncertain: false }];
}

/** The last that was tried comes first. */
const nearest = (passed: readonly PassedOver[]): readonly PassedOver[] => passed.toReversed();

function fractionOf({ match }: RouteJson): number {
  const value = match?.runtimeFraction?.defaultValue;
  return value === undefined ? 1 : partOf(value);
}

const routeText = ({ name = "" }: RouteJson, index: number): string =>
  name === "" ? `route ${index}` : `${name} (route ${index})`;

/** What a route asks for, in words. */
function takes({ match = {} }: RouteJson): string {
  const {
    prefix,
    path,
    safeRegex,
    pathSeparatedPrefix,
    connectMatcher,
    headers = [],
    queryParameters = [],
    grpc,
  } = match;
  const asked = [
    prefix === undefined ? "" : `path begins with ${prefix}`,
    path === undefined ? "" : `path is ${path}`,
    safeRegex === undefined ? "" : `path matches ${safeRegex.regex ?? ""}`,
    pathSeparatedPrefix === undefined ? "" : `path is below ${pathSeparatedPrefix}`,
    connectMatcher === undefined ? "" : "method is CONNECT",
    grpc === undefined ? "" : "it is gRPC",
    ...headers.map(({ name = "" }) => `header ${name} fits`),
    ...queryParameters.map(({ name = "" }) => `parameter ${name} fits`),
  ];
  return asked.filter((text) => text !== "").join(", ");
}
