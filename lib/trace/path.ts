import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";

/** A path as routes see it; or the answer that is given before any route is asked. */
export type ReadPath =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "redirect"; readonly path: string };

/** @see envoy 1.40.0 source/common/http/conn_manager_utility.cc, maybeNormalizePath */
export function readPath(path: string, settings: HttpConnectionManagerJson): ReadPath {
  const { pathWithEscapedSlashesAction: action = "KEEP_UNCHANGED", normalizePath, mergeSlashes } = settings;
  const [before, query] = splitQuery(path);
  let read = before;
  let isRedirected = false;
  if (action !== "KEEP_UNCHANGED" && action !== "IMPLEMENTATION_SPECIFIC_DEFAULT" && /%(?:2f|5c)/i.test(read)) {
    if (action === "REJECT_REQUEST") return { kind: "refused", why: "its path has escaped slashes" };
    isRedirected = action === "UNESCAPE_AND_REDIRECT";
    read = read.replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\");
  }
  if (normalizePath === true) {
    const normal = URL.parse(`http://host${read}`)?.pathname;
    if (normal === undefined) return { kind: "refused", why: "its path cannot be normalised" };
    // Envoy's library escapes one character more, and unescapes what never needed to be escaped.
    read = normal.replaceAll("|", "%7C").replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
      const plain = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
      return /[A-Za-z0-9._~-]/.test(plain) ? plain : escaped;
    });
  }
  if (mergeSlashes === true) read = merged(read);
  return { kind: isRedirected ? "redirect" : "path", path: read + query };
}

/** One slash for several; but Envoy makes two of a path that is nothing else. */
const merged = (path: string): string => (/^\/{2,}$/.test(path) ? "//" : path.replaceAll(/\/{2,}/g, "/"));

/** Before the query, and the query with its question mark. */
function splitQuery(path: string): readonly [string, string] {
  const at = path.indexOf("?");
  return at === -1 ? [path, ""] : [path.slice(0, at), path.slice(at)];
}

/** Without query and fragment. */
export const barePath = (path: string): string => path.replace(/[?#].*$/s, "");

/**
 * A path as rules compare it: without query and fragment, and without the parameters of its segments (`/a;v=1/b`) where the route
 * table ignores them.
 */
export function comparedPath(path: string, ignoresPathParameters: boolean): string {
  const bare = barePath(path);
  return ignoresPathParameters ? bare.replaceAll(/;[^/]*/g, "") : bare;
}
