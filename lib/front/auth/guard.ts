import type { Context, MiddlewareHandler } from "hono";
import { problem } from "../polls/responses.ts";
import type { Authentication, Credentials, Identified } from "./authentication.ts";
import { type Caller, mayUse, type Scope } from "./caller.ts";
import { peerCertificateOf } from "./peer-certificate.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** Behind the guard only. */
    readonly caller: Caller | undefined;
  }
}

/**
 * Lets a request pass whose sender is known and may use what its path is for: before anything of its body is read. What the
 * sender may see of it, each handler decides.
 */
export function guard(authentication: Authentication): MiddlewareHandler {
  return async (c, next) => {
    const scope = scopeOf(c.req.path);
    if (scope === undefined) return next();
    const found = await authentication.identify(credentialsOf(c));
    const refusal = refusalOf(found, scope);
    if (refusal !== undefined) return refusal;
    if (found.kind === "identified") c.set("caller", found.caller);
    return next();
  };
}

/** The request's headers, and the fields that its platform adds and no client can write. */
const credentialsOf = (c: Context): Credentials => ({
  header: (name) => c.req.header(name),
  certificate: () => peerCertificateOf(Object(c.env).incoming),
  platform: c.env,
  // The runtime's own, which the types of browsers do not know.
  cf: Reflect.get(c.req.raw, "cf"),
});

/** Whom the guard has let pass. @throws when no guard stood before the handler, which is a bug of ours */
export function callerOf(c: Context): Caller {
  const caller = c.get("caller");
  if (caller === undefined) throw new Error("the caller was not authenticated");
  return caller;
}

/** The answer to a request whose sender may not send it. */
export function refusalOf(found: Identified, scope: Scope): Response | undefined {
  if (found.kind === "refused") {
    const response = problem(found.status, found.reason);
    if (found.status === 401) response.headers.set("www-authenticate", "Bearer");
    return response;
  }
  const { caller } = found;
  if (mayUse(caller, scope)) return undefined;
  const who = caller.kind === "anyone" ? "anyone" : caller.subject;
  return problem(403, `${who} is let in for ${caller.kind}, and this is for ${scope}`);
}

/**
 * What a path is for; undefined for what says nothing of the mesh. Everything that is not known to be for nodes is for operators,
 * so that a way around is one to less.
 */
function scopeOf(path: string): Scope | undefined {
  if (path === "/healthz" || isShell(path)) return undefined;
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

/** The console's own files and the description of the API: the same for every mesh. What the console shows it asks `/api/` for. */
const isShell = (path: string): boolean =>
  path === "/" || path === "/api/openapi.json" || /^\/console\/[\w.-]+$/.test(path);
