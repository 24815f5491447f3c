/** What the API has, by the names that its handlers, its description and the console know it by. Without imports: the edge carries it. */
export const apiPaths = {
  overview: { method: "get", path: "/api/overview" },
  history: { method: "get", path: "/api/history" },
  diagnostics: { method: "get", path: "/api/diagnostics" },
  classes: { method: "get", path: "/api/classes" },
  oneClass: { method: "get", path: "/api/classes/:id" },
  resources: { method: "get", path: "/api/resources" },
  resource: { method: "get", path: "/api/resource" },
  diff: { method: "get", path: "/api/diff" },
  resourceDiff: { method: "get", path: "/api/diff/resource" },
  nodes: { method: "get", path: "/api/nodes" },
  trouble: { method: "get", path: "/api/trouble" },
  mesh: { method: "get", path: "/api/mesh" },
  meshServices: { method: "get", path: "/api/mesh/services" },
  trace: { method: "get", path: "/api/trace" },
  move: { method: "post", path: "/api/moves" },
} as const;

export type ApiName = keyof typeof apiPaths;
