import type { Diagnostic } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import type { Path } from "../config/finding.ts";
import type { KubernetesHTTPRoute, PathModifier } from "../config/gateway-api/http-route.ts";
import { gatewayGroup } from "../config/gateway-api/schema/references.ts";
import type { HTTPRoute } from "../config/kinds/virtual-service.ts";
import { type Analyzer, found } from "./analyzer.ts";

/** Envoy puts the replacement in place of the prefix, letter by letter: a slash that the prefix had is gone. */
const joinedPrefixes: Analyzer = {
  name: "portolan.JoinedPrefixAnalyzer",
  about: "a rewritten prefix ends at a slash",
  *analyze({ virtualServices, ofKind }) {
    for (const config of virtualServices) {
      for (const [index, route] of (config.spec.http ?? []).entries()) {
        const to = route.rewrite?.uri;
        if (to === undefined || to.endsWith("/")) continue;
        const prefix = prefixesOf(route).find((one) => one.endsWith("/"));
        if (prefix === undefined) continue;
        yield joined(config, ["spec", "http", index, "rewrite", "uri"], { prefix, to }, `${to}/`);
      }
    }
    for (const config of ofKind<KubernetesHTTPRoute>(`HTTPRoute.${gatewayGroup}`)) yield* joinedInRoute(config);
  },
};

/** Prefixes that the rule takes; one without a match takes every path. */
function prefixesOf({ match = [] }: HTTPRoute): readonly string[] {
  if (match.length === 0) return ["/"];
  return match.flatMap(({ uri }) => (uri === undefined ? ["/"] : uri.prefix === undefined ? [] : [uri.prefix]));
}

/** A slash at the end of a replacement is cut off, and so is one at the end of a prefix, unless it is all of it. */
function* joinedInRoute(config: Config<KubernetesHTTPRoute>): Generator<Diagnostic> {
  for (const [index, { matches, filters = [] }] of config.spec.rules.entries()) {
    const prefixes = matches.flatMap(({ path }) =>
      path.type === "PathPrefix" ? [path.value.replace(/(.)\/$/, "$1")] : [],
    );
    for (const [at, { urlRewrite, requestRedirect }] of filters.entries()) {
      const path = (name: string) => ["spec", "rules", index, "filters", at, name, "path", "replacePrefixMatch"];
      const to = joinedTo(urlRewrite?.path);
      if (to !== undefined && prefixes.includes("/"))
        yield joined(config, path("urlRewrite"), { prefix: "/", to }, undefined);
      yield* joinedRedirect(config, path("requestRedirect"), prefixes, requestRedirect?.path);
    }
  }
}

/** A redirect's replacement stays as it is written, and a prefix other than the root has no slash at its end. */
function* joinedRedirect(config: Config, at: Path, prefixes: readonly string[], path: PathModifier | undefined) {
  const to = path?.type === "ReplacePrefixMatch" ? (path.replacePrefixMatch ?? "") : "";
  if (to === "") return;
  const endsInSlash = to.endsWith("/");
  if (!endsInSlash && prefixes.includes("/")) yield joined(config, at, { prefix: "/", to }, `${to}/`);
  const below = prefixes.find((prefix) => prefix !== "/");
  if (!endsInSlash || below === undefined) return;
  const message = `a request for ${below}/test is redirected to ${to}/test: the slash after the prefix stays, too`;
  const hint =
    to === "/"
      ? "redirect to a path other than the root, or route these requests"
      : `write ${JSON.stringify(to.slice(0, -1))}`;
  yield found("prefix-rewrite-joined", config, at, message, hint);
}

function joinedTo(path: PathModifier | undefined): string | undefined {
  if (path?.type !== "ReplacePrefixMatch") return undefined;
  const to = (path.replacePrefixMatch ?? "").replace(/\/$/, "");
  return to === "" ? undefined : to;
}

function joined(
  config: Config,
  path: Path,
  { prefix, to }: { readonly prefix: string; readonly to: string },
  better: string | undefined,
): Diagnostic {
  const message = `a request for ${prefix}test is sent on as ${to}test: the slash of the prefix ${JSON.stringify(prefix)} is replaced, too`;
  const hint =
    better === undefined
      ? "route by a VirtualService, whose rewrite may end with a slash"
      : `write ${JSON.stringify(better)}`;
  return found("prefix-rewrite-joined", config, path, message, hint);
}

/** Rewrites that leave every request as it was. */
const idleRewrites: Analyzer = {
  name: "portolan.IdleRewriteAnalyzer",
  about: "rewrites change something",
  *analyze({ virtualServices }) {
    for (const config of virtualServices) {
      for (const [index, route] of (config.spec.http ?? []).entries()) {
        const { rewrite } = route;
        if (rewrite === undefined) continue;
        const path = ["spec", "http", index, "rewrite"];
        const { uri, uriRegexRewrite } = rewrite;
        if (uri !== undefined && isIdle(route, uri)) {
          const message = `${JSON.stringify(uri)} is what the match has already: no request is changed`;
          yield found("rewrite-without-effect", config, [...path, "uri"], message, "remove the rewrite, or correct it");
        }
        const pattern = uriRegexRewrite?.match;
        const missed = pattern === undefined ? undefined : pathsMissed(route, pattern);
        if (missed !== undefined) {
          const message = `${JSON.stringify(pattern)} is found in no path that the rule takes, such as ${missed}: no request is changed`;
          yield found(
            "rewrite-without-effect",
            config,
            [...path, "uriRegexRewrite", "match"],
            message,
            "correct the expression",
          );
        }
      }
    }
  },
};

function isIdle({ match = [] }: HTTPRoute, to: string): boolean {
  if (match.length === 0) return to === "/";
  return match.every(({ uri, ignoreUriCase }) => {
    if (uri === undefined) return to === "/";
    return ignoreUriCase !== true && (uri.prefix ?? uri.exact) === to;
  });
}

/** The first path of a rule for exact paths where none of them begins as an anchored expression wants; undefined for any other rule. */
function pathsMissed({ match = [] }: HTTPRoute, pattern: string): string | undefined {
  const start = /^\^(\/[\w/-]*)/.exec(pattern)?.[1]?.replace(/[^/]$/, "");
  if (start === undefined || match.length === 0 || pattern.includes("|")) return undefined;
  const paths = match.map(({ uri, ignoreUriCase }) =>
    ignoreUriCase === true ? undefined : (uri?.exact ?? uri?.prefix),
  );
  const misses = (path: string | undefined) => path !== undefined && !path.startsWith(start) && !start.startsWith(path);
  return paths.every(misses) ? paths[0] : undefined;
}

export const rewriteAnalyzers: readonly Analyzer[] = [joinedPrefixes, idleRewrites];
