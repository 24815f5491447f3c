/**
 * Annotations of objects that Portolan makes of what operators wrote. They count only on objects with `madeFrom`, which nobody can
 * write.
 */

/** The policy is about HTTP requests only: TCP connections never meet it. */
export const httpOnlyAnnotation = "internal.portolan.dev/http-only";

/**
 * The object stands in for one that is refused. `namespace`: what that one selects cannot be read, so the stand-in goes before every
 * object that selects less than the whole namespace; `target` otherwise.
 */
export const closedAnnotation = "internal.portolan.dev/closed";

/** The stand-in closes proxies of one type only, `sidecar` or `router`; absent: of both. */
export const closedProxiesAnnotation = "internal.portolan.dev/closed-proxies";
