import type { Route } from "./documents.ts";

/** Members of a route in the order in which the release writes them. */
const routeMembers: readonly (keyof Route)[] = [
  "path",
  "prefix",
  "regex",
  "prefix_rewrite",
  "host_rewrite",
  "path_redirect",
  "host_redirect",
  "cluster",
  "weighted_clusters",
  "headers",
  "timeout_ms",
  "retry_policy",
  "opaque_config",
  "auto_host_rewrite",
  "use_websocket",
  "shadow",
  "request_headers_to_add",
  "cors",
  "decorator",
];

/** The same route with its members in their order: it was put together in several places. */
export function inMemberOrder(route: Route): Route {
  const ordered: { -readonly [Member in keyof Route]?: Route[Member] } = {};
  const copy = <Member extends keyof Route>(member: Member): void => {
    if (route[member] !== undefined) ordered[member] = route[member];
  };
  routeMembers.forEach(copy);
  return { ...ordered, timeout_ms: route.timeout_ms };
}
