import { unreachable } from "../../../base/diagnostic.ts";
import { patchProblems } from "../../../descriptors/patch-messages.ts";
import type { ValueProblem } from "../../../descriptors/values/value-problem.ts";
import { isHarmlessPatch } from "../../fail-closed/harmless-patches.ts";
import { error, type Finding, info, type Path, warning } from "../../finding.ts";
import {
  type ApplyTo,
  type EnvoyConfigObjectPatch,
  type EnvoyFilter,
  type FilterMatch,
  filterTargets,
  longestVersionPattern,
} from "../../kinds/envoy-filter.ts";
import { lengthRules, maxPatches } from "../expansion.ts";
import { boundedExpressions, type ExpressionProblem, isRegex } from "../regex.ts";
import { inlineSecretRules } from "../security/inline-secrets.ts";
import { labelsSelectorRules, targetRefsRules } from "../selectors.ts";
import { each } from "../values.ts";

const listenerTargets: ReadonlySet<ApplyTo> = new Set(["LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"]);
const routeTargets: ReadonlySet<ApplyTo> = new Set(["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"]);
const connectionManager = "envoy.filters.network.http_connection_manager";

/** Names of filters that Envoy no longer knows → their new names. */
const renamedFilters: Readonly<Record<string, string>> = {
  "envoy.buffer": "envoy.filters.http.buffer",
  "envoy.client_ssl_auth": "envoy.filters.network.client_ssl_auth",
  "envoy.cors": "envoy.filters.http.cors",
  "envoy.csrf": "envoy.filters.http.csrf",
  "envoy.echo": "envoy.filters.network.echo",
  "envoy.ext_authz": "envoy.filters.http.ext_authz",
  "envoy.fault": "envoy.filters.http.fault",
  "envoy.grpc_http1_bridge": "envoy.filters.http.grpc_http1_bridge",
  "envoy.grpc_json_transcoder": "envoy.filters.http.grpc_json_transcoder",
  "envoy.grpc_web": "envoy.filters.http.grpc_web",
  "envoy.gzip": "envoy.filters.http.compressor",
  "envoy.health_check": "envoy.filters.http.health_check",
  "envoy.http_connection_manager": connectionManager,
  "envoy.http_dynamo_filter": "envoy.filters.http.dynamo",
  "envoy.ip_tagging": "envoy.filters.http.ip_tagging",
  "envoy.listener.http_inspector": "envoy.filters.listener.http_inspector",
  "envoy.listener.original_dst": "envoy.filters.listener.original_dst",
  "envoy.listener.original_src": "envoy.filters.listener.original_src",
  "envoy.listener.proxy_protocol": "envoy.filters.listener.proxy_protocol",
  "envoy.listener.tls_inspector": "envoy.filters.listener.tls_inspector",
  "envoy.lua": "envoy.filters.http.lua",
  "envoy.mongo_proxy": "envoy.filters.network.mongo_proxy",
  "envoy.rate_limit": "envoy.filters.http.ratelimit",
  "envoy.ratelimit": "envoy.filters.network.ratelimit",
  "envoy.redis_proxy": "envoy.filters.network.redis_proxy",
  "envoy.router": "envoy.filters.http.router",
  "envoy.squash": "envoy.filters.http.squash",
  "envoy.tcp_proxy": "envoy.filters.network.tcp_proxy",
};

/**
 * Rules about the patches themselves, and about what each brings. Whether Envoy takes what a patch makes of a resource is checked where
 * that is generated.
 * @see docs/how-istio-does-it/kind-rules.md#envoyfilter
 */
export function* envoyFilterRules(spec: EnvoyFilter): Generator<Finding> {
  if (spec.workloadSelector !== undefined && spec.targetRefs !== undefined) {
    yield error(["targetRefs"], "targetRefs and workloadSelector exclude each other", "keep one", "conflicting-fields");
  }
  yield* labelsSelectorRules(spec.workloadSelector, ["workloadSelector"]);
  yield* targetRefsRules(spec.targetRefs);
  yield* lengthRules(spec.configPatches, maxPatches, ["configPatches"]);
  const problemOf = boundedExpressions();
  yield* each(spec.configPatches, ["configPatches"], (entry, path) => patchRules(entry, path, problemOf));
}

/** @param problemOf of the regular expressions of all patches together */
function* patchRules(entry: EnvoyConfigObjectPatch, path: Path, problemOf: ExpressionProblem): Generator<Finding> {
  const { applyTo, match, patch } = entry;
  if (applyTo === "INVALID") {
    yield error([...path, "applyTo"], "is required", "", "missing-field");
    return;
  }
  if (patch.operation === "INVALID") {
    yield error([...path, "patch", "operation"], "is required", "", "missing-field");
    return;
  }
  if (patch.operation !== "REMOVE" && patch.value === undefined) {
    yield error([...path, "patch", "value"], `is required for ${patch.operation}`, "", "missing-field");
    return;
  }
  if (patch.operation === "MERGE_AND_REPLACE_LIST" && filterTargets.has(applyTo)) {
    yield warning(
      [...path, "patch", "operation"],
      `${patch.operation} has no effect on ${applyTo}, as in Istio`,
      "use MERGE, whose lists are appended, or REPLACE for the whole filter",
      "no-effect",
    );
  }
  const secrets = [...inlineSecretRules(patch.value, [...path, "patch", "value"])];
  yield* secrets;
  if (applyTo === "BOOTSTRAP") {
    yield warning(
      [...path, "applyTo"],
      "a proxy reads its bootstrap before it asks for anything, so the patch has no effect",
      "write the change into the file that `portolan bootstrap` prints, or give Envoy both files (--config-yaml)",
      "envoy-filter-not-served",
    );
  }
  yield* exclusiveMatchRules(match, [...path, "match"]);
  if (match?.context === "WAYPOINT") {
    yield info([...path, "match"], "waypoints are not served here, so the patch has no effect");
    return;
  }
  const version = match?.proxy?.proxyVersion;
  if (version !== undefined) {
    const at = [...path, "match", "proxy", "proxyVersion"];
    if (version.length > longestVersionPattern) {
      const message = `is longer than ${longestVersionPattern} characters: from Istio 1.31 on the patch matches no proxy`;
      yield warning(at, message, "write a shorter pattern");
    } else if (!isRegex(version)) yield error(at, `${JSON.stringify(version)} is not a regular expression`);
  }
  yield* objectMatchRules(entry, path);
  // What is said of a value may quote it.
  if (secrets.length === 0) yield* valueRules(entry, [...path, "patch", "value"], problemOf);
}

/**
 * A value for some versions of proxies may be written in their API: it is checked where it applies, besides types that no setting accepts. A
 * field that is not known is passed over, as in Istio, but for one that may protect something.
 */
function* valueRules(entry: EnvoyConfigObjectPatch, path: Path, problemOf: ExpressionProblem) {
  const { applyTo, match, patch } = entry;
  const { operation, value } = patch;
  if (operation === "REMOVE") return;
  const isMerged = operation === "MERGE" || operation === "MERGE_AND_REPLACE_LIST";
  const isStrict = !isHarmlessPatch(entry);
  const isVersioned = match?.proxy?.proxyVersion !== undefined;
  for (const problem of patchProblems(applyTo, value, isMerged, problemOf)) {
    const finding = valueFinding(problem, path, isStrict);
    if (!isVersioned || problem.kind === "unknown-type") yield finding;
  }
}

function valueFinding({ kind, path, reason, hint }: ValueProblem, value: Path, isStrict: boolean): Finding {
  const at = [...value, ...path];
  const help = hint === "" ? "compare it with Envoy's API reference" : hint;
  switch (kind) {
    case "invalid":
    case "gone-type":
      return error(at, reason, help, "envoy-filter-value");
    case "unknown-type":
      return error(at, reason, help, "envoy-filter-unknown-type");
    case "unchecked-type":
      return warning(at, reason, "see that the proxies have this extension", "envoy-filter-unknown-type");
    case "unknown-field":
      return isStrict
        ? error(at, `${reason}, and the patch may be meant to protect something`, help, "envoy-filter-value")
        : warning(at, `${reason} and is ignored`, help, "unknown-field");
    case "passed":
      return warning(at, reason, "leave one of them out", "envoy-filter-value");
    case "ignored":
      return warning(at, reason, help, "no-effect");
    default:
      return unreachable(kind);
  }
}

/** The alternatives of a match that are given. */
function matchKinds(match: EnvoyConfigObjectPatch["match"]) {
  const kinds = ["listener", "routeConfiguration", "cluster", "waypoint"] as const;
  return kinds.filter((name) => match?.[name] !== undefined);
}

function* exclusiveMatchRules(match: EnvoyConfigObjectPatch["match"], path: Path): Generator<Finding> {
  const kinds = matchKinds(match);
  if (kinds.length < 2) return;
  yield error(path, `${kinds.join(" and ")} exclude each other`, "keep one of them", "conflicting-fields");
}

function* objectMatchRules({ applyTo, match }: EnvoyConfigObjectPatch, path: Path): Generator<Finding> {
  const at = [...path, "match"];
  const [kind] = matchKinds(match);
  if (kind === undefined) return;
  const wanted = listenerTargets.has(applyTo)
    ? "listener"
    : routeTargets.has(applyTo)
      ? "routeConfiguration"
      : applyTo === "CLUSTER"
        ? "cluster"
        : undefined;
  if (wanted !== undefined && kind !== wanted) {
    yield error([...at, kind], `${applyTo} is matched by ${wanted}`, `write match.${wanted}`, "conflicting-fields");
    return;
  }
  const filter = match?.listener?.filterChain?.filter;
  if (filter !== undefined && listenerTargets.has(applyTo)) {
    yield* filterMatchRules(filter, applyTo, [...at, "listener", "filterChain", "filter"]);
  }
}

function* filterMatchRules(filter: FilterMatch, applyTo: ApplyTo, path: Path): Generator<Finding> {
  if (applyTo === "LISTENER" || applyTo === "FILTER_CHAIN") yield warning(path, `has no effect on ${applyTo}`);
  if (filter.name === undefined) {
    yield error([...path, "name"], "is required", "", "missing-field");
    return;
  }
  yield* filterNameRules(filter.name, [...path, "name"]);
  if (filter.subFilter === undefined) return;
  const at = [...path, "subFilter"];
  if (applyTo !== "HTTP_FILTER") yield error(at, "is for HTTP_FILTER only", "", "conflicting-fields");
  if (filter.name !== connectionManager && filter.name !== "envoy.http_connection_manager") {
    yield error(at, `needs the filter ${connectionManager}`);
  }
  if (filter.subFilter.name === undefined) yield error([...at, "name"], "is required", "", "missing-field");
  else yield* filterNameRules(filter.subFilter.name, [...at, "name"]);
}

function* filterNameRules(name: string, path: Path): Generator<Finding> {
  const renamed = renamedFilters[name];
  if (renamed !== undefined) yield warning(path, `${name} is a former name`, `write ${renamed}`);
}
