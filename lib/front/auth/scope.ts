import type { Scope } from "./caller.ts";

/**
 * What a path is for; undefined for what says nothing of the mesh. Everything that is not known to be for nodes is for operators,
 * so that a way around is one to less.
 *
 * @param path decoded; a slash within a segment stays encoded
 */
export function scopeOf(method: string, path: string): Scope | undefined {
  if (path === "/healthz" || isShell(path) || (isProbe(path) && method === "GET")) return undefined;
  if (
    /^\/(?:v3\/|envoy\.service\.[A-Za-z.0-9]+\/|portolan\.v1\.SnapshotService\/|istio\.v1\.auth\.IstioCertificateService\/)/.test(
      path,
    )
  )
    return "node";
  // Lists of everything, and statistics, are for operators; what one node asks is not, nor are the endpoints of one service.
  if (/^\/v1\/(?:(?:clusters|listeners|routes|az)\/|registration\/[^/]+$)/.test(path)) return "v1";
  return "operator";
}

/** What orchestrators ask, who have no token to bring. */
const isProbe = (path: string): boolean => path === "/livez" || path === "/readyz";

/** The console's own files and the description of the API: the same for every mesh. What the console shows it asks `/api/` for. */
const isShell = (path: string): boolean =>
  path === "/" || path === "/api/openapi.json" || /^\/console\/[\w.-]+$/.test(path);
