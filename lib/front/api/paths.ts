/** What the API has, by the names that its handlers, its description and the console know it by. Without imports: the edge carries it. */

const page = { offset: "number", limit: "number" } as const;
const version = { root: "text" } as const;
const searched = { ...version, q: "text", ...page } as const;
const ofProxy = { ...version, node: "text", class: "text", type: "text", shape: "text" } as const;

/** Where each is, and the parameters of its query with what they take: any text, a whole number, or one of a few words. */
export const apiPaths = {
  overview: { method: "get", path: "/api/overview", query: {} },
  history: {
    method: "get",
    path: "/api/history",
    query: { before: "text", limit: "number", changes: ["true", "false"] },
  },
  diagnostics: {
    method: "get",
    path: "/api/diagnostics",
    query: { ...searched, severity: ["error", "warning", "info"] },
  },
  classes: { method: "get", path: "/api/classes", query: searched },
  oneClass: { method: "get", path: "/api/classes/:id", query: searched },
  resources: {
    method: "get",
    path: "/api/resources",
    query: { ...ofProxy, q: "text", from: "text", after: "text", limit: "number", texts: ["true", "false"] },
  },
  resource: { method: "get", path: "/api/resource", query: { ...ofProxy, name: "text", offset: "number" } },
  diff: {
    method: "get",
    path: "/api/diff",
    query: { before: "text", after: "text", shape: "text", q: "text", ...page },
  },
  resourceDiff: {
    method: "get",
    path: "/api/diff/resource",
    query: {
      before: "text",
      after: "text",
      class: "text",
      earlier: "text",
      type: "text",
      shape: "text",
      name: "text",
    },
  },
  nodes: { method: "get", path: "/api/nodes", query: { q: "text", ...page } },
  trouble: { method: "get", path: "/api/trouble", query: page },
  lookups: { method: "get", path: "/api/lookups", query: page },
  mesh: { method: "get", path: "/api/mesh", query: version },
  meshServices: { method: "get", path: "/api/mesh/services", query: { ...searched, class: "text", namespace: "text" } },
  trace: {
    method: "get",
    path: "/api/trace",
    query: {
      ...version,
      node: "text",
      url: "text",
      method: "text",
      headers: "text",
      direction: ["inbound", "outbound"],
      mutual: ["true", "false"],
      from: "text",
      principal: "text",
      claims: "text",
      shape: "text",
    },
  },
  move: { method: "post", path: "/api/moves", query: {} },
} as const;

export type ApiName = keyof typeof apiPaths;

/** What a parameter takes. */
export type Taken = "text" | "number" | readonly string[];
