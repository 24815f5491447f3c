/**
 * Values that keep the constraints of Envoy's protos and that Envoy refuses all the same, with the whole resource: what its code checks.
 * Only what operators write is held against these rules; what generators write keeps them.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { ValuePath } from "./value-problem.ts";

/** What Envoy refuses, and where. */
export interface RefusedValue {
  readonly path: ValuePath;
  /** Continues "<path> …". */
  readonly reason: string;
  /** Istio passes it on, and so does Portolan: it is only reported. Absent: the patch is refused. */
  readonly isPassed?: true;
}

type Members = Readonly<Record<string, unknown>>;

/** What is looked up for a walk. */
export interface RefusalChecks {
  /** The descriptor of an Any's type; undefined for a type that is not carried. */
  readonly typeOf: (url: string) => DescMessage | undefined;
  /** Why Envoy cannot read a regular expression; undefined: it can. */
  readonly expressionProblem: (regex: string) => string | undefined;
}

type Rule = (message: Members, checks: RefusalChecks) => RefusedValue | undefined;

/** An expression that RE2 cannot read. */
const expression: Rule = ({ regex }, { expressionProblem }) => {
  const reason = typeof regex === "string" ? expressionProblem(regex) : undefined;
  return reason === undefined ? undefined : { path: ["regex"], reason };
};

/** Envoy's words: "local rate limit token bucket fill timer must be >= 50ms". */
const fillInterval: Rule = ({ tokenBucket }) => {
  const written = membersOf(tokenBucket)?.fillInterval;
  const seconds = typeof written === "string" ? Number.parseFloat(written) : Number.NaN;
  return seconds > 0 && seconds < 0.05
    ? { path: ["tokenBucket", "fillInterval"], reason: `must be at least 0.05s (50 ms), not ${written}` }
    : undefined;
};

/** Fields of which a route has one at most: "Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy". */
const pathRewrites = ["prefixRewrite", "regexRewrite", "pathRewritePolicy"] as const;

const oneRewrite: Rule = (action) => {
  const found = pathRewrites.filter((name) => action[name] !== undefined);
  if (found.length < 2) return undefined;
  const reason = `is beside ${found[0]}, and Envoy refuses a route table with both on one route`;
  return { path: [found[1] ?? ""], reason, isPassed: true };
};

const rules: Readonly<Record<string, Rule>> = {
  "envoy.type.matcher.v3.RegexMatcher": expression,
  "xds.type.matcher.v3.RegexMatcher": expression,
  "envoy.config.route.v3.RouteAction": oneRewrite,
  "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit": fillInterval,
  "envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit": fillInterval,
  "envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit": fillInterval,
};

/** The first value in a canonical message that Envoy refuses, in the order of the message's fields. */
export function refusedValue(schema: DescMessage, json: unknown, checks: RefusalChecks): RefusedValue | undefined {
  const message = membersOf(json);
  if (message === undefined) return undefined;
  if (schema.typeName === "google.protobuf.Any") {
    const type = checks.typeOf(String(message["@type"]));
    return type === undefined ? undefined : refusedValue(type, message, checks);
  }
  // Structs and the like have members of their own.
  if (schema.typeName.startsWith("google.protobuf.")) return undefined;
  const own = rules[schema.typeName]?.(message, checks);
  if (own !== undefined) return own;
  for (const { jsonName, fieldKind, message: type } of schema.fields) {
    const value = message[jsonName];
    if (type === undefined || value === undefined) continue;
    const isSingle = fieldKind === "message";
    const found = isSingle ? refusedValue(type, value, checks) : firstRefused(type, value, checks);
    if (found !== undefined) return { ...found, path: [jsonName, ...found.path] };
  }
  return undefined;
}

/** Of a list or a map. */
function firstRefused(type: DescMessage, value: unknown, checks: RefusalChecks): RefusedValue | undefined {
  const elements = Array.isArray(value) ? value.entries() : Object.entries(membersOf(value) ?? {});
  for (const [key, element] of elements) {
    const found = refusedValue(type, element, checks);
    if (found !== undefined) return { ...found, path: [key, ...found.path] };
  }
  return undefined;
}

const membersOf = (value: unknown): Members | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
