import { error, type Finding, type Path } from "../../finding.ts";
import { headerValueRules } from "../../rules/routes/header-rules.ts";
import { each } from "../../rules/values.ts";
import type {
  CORS,
  ExternalAuth,
  HeaderModifier,
  HTTPRouteFilter,
  PathModifier,
  RequestMirror,
} from "../http-route.ts";
import { backendRules } from "./common-route.ts";

/** Type of a filter → the field that holds it. */
const fieldOfType = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  CORS: "cors",
  ExternalAuth: "externalAuth",
  ExtensionRef: "extensionRef",
} as const;
const types = Object.entries(fieldOfType);

const repeatable: ReadonlySet<string> = new Set(["RequestMirror", "ExtensionRef", "ExternalAuth"]);

/** The filters of one rule or of one backend. */
export function* filterRules(filters: readonly HTTPRouteFilter[] | undefined, path: Path): Generator<Finding> {
  if (filters === undefined) return;
  yield* each(filters, path, oneFilterRules);
  const seen = new Set<string>();
  for (const [index, { type }] of filters.entries()) {
    if (seen.has(type) && !repeatable.has(type)) {
      yield error([...path, index, "type"], `there is another ${type} filter`, "write it once", "conflicting-fields");
    }
    seen.add(type);
  }
  if (seen.has("RequestRedirect") && seen.has("URLRewrite")) {
    yield error(path, "a request is either redirected or rewritten", "keep one of the two", "conflicting-fields");
  }
}

function* oneFilterRules(filter: HTTPRouteFilter, path: Path): Generator<Finding> {
  for (const [type, field] of types) {
    const isThere = filter[field] !== undefined;
    if (isThere && filter.type !== type) {
      yield error([...path, field], `has no place in a filter of type ${filter.type}`, "", "conflicting-fields");
    } else if (!isThere && filter.type === type) {
      yield error([...path, field], `is required for type ${type}`, "", "missing-field");
    }
  }
  const {
    requestHeaderModifier,
    responseHeaderModifier,
    requestMirror,
    requestRedirect,
    urlRewrite,
    cors,
    externalAuth,
  } = filter;
  yield* headerModifierRules(requestHeaderModifier, [...path, "requestHeaderModifier"]);
  yield* headerModifierRules(responseHeaderModifier, [...path, "responseHeaderModifier"]);
  if (requestMirror !== undefined) yield* mirrorRules(requestMirror, [...path, "requestMirror"]);
  yield* modifierRules(requestRedirect?.path, [...path, "requestRedirect", "path"]);
  yield* modifierRules(urlRewrite?.path, [...path, "urlRewrite", "path"]);
  if (cors !== undefined) yield* corsRules(cors, [...path, "cors"]);
  if (externalAuth !== undefined) yield* externalAuthRules(externalAuth, [...path, "externalAuth"]);
}

/** Envoy reads values as format strings, whatever wrote them. */
function* headerModifierRules(modifier: HeaderModifier | undefined, path: Path): Generator<Finding> {
  for (const operation of ["set", "add"] as const) {
    yield* each(modifier?.[operation], [...path, operation], function* ({ value }, here) {
      yield* headerValueRules(value, [...here, "value"]);
    });
  }
}

function* mirrorRules({ backendRef, percent, fraction }: RequestMirror, path: Path): Generator<Finding> {
  yield* backendRules(backendRef, [...path, "backendRef"]);
  if (percent !== undefined && fraction !== undefined) {
    yield error([...path, "fraction"], "percent and fraction cannot both be given", "", "conflicting-fields");
  }
  if (fraction !== undefined && fraction.numerator > fraction.denominator) {
    yield error([...path, "fraction", "numerator"], "must not be greater than the denominator");
  }
}

/** Each type has the field of its name, and no other. */
function* modifierRules(modifier: PathModifier | undefined, path: Path): Generator<Finding> {
  if (modifier === undefined) return;
  for (const [type, field] of [
    ["ReplaceFullPath", "replaceFullPath"],
    ["ReplacePrefixMatch", "replacePrefixMatch"],
  ] as const) {
    const isThere = modifier[field] !== undefined;
    if (isThere && modifier.type !== type) {
      yield error([...path, field], `has no place beside type ${modifier.type}`, "", "conflicting-fields");
    } else if (!isThere && modifier.type === type) {
      yield error([...path, field], `is required for type ${type}`, "", "missing-field");
    }
  }
}

function* corsRules(cors: CORS, path: Path): Generator<Finding> {
  for (const field of ["allowOrigins", "allowMethods", "allowHeaders"] as const) {
    const list = cors[field] ?? [];
    if (list.includes("*") && list.length > 1) yield error([...path, field], '"*" must be the only entry');
  }
}

function* externalAuthRules({ protocol, backendRef, grpc, http }: ExternalAuth, path: Path): Generator<Finding> {
  yield* backendRules(backendRef, [...path, "backendRef"]);
  for (const [type, field, part] of [
    ["GRPC", "grpc", grpc],
    ["HTTP", "http", http],
  ] as const) {
    if ((protocol === type) !== (part !== undefined)) {
      yield error([...path, field], `must be there for protocol ${type}, and only for it`, "", "conflicting-fields");
    }
  }
}
