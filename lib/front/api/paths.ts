/** What the API has, by the names that its handlers, its description and the console know it by. Without imports: the edge carries it. */
export const apiPaths = {
  overview: { method: "get", path: "/api/overview" },
  history: { method: "get", path: "/api/history" },
  diagnostics: { method: "get", path: "/api/diagnostics" },
  classes: { method: "get", path: "/api/classes" },
  oneClass: { method: "get", path: "/api/classes/:id" },
  resources: { method: "get", path: "/api/resources" },
  resource: { method: "get", path: "/api/resource" },
} as const;

export type ApiName = keyof typeof apiPaths;
