import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path } from "../../finding.ts";
import type { IstioService } from "../../kinds/legacy/istio-service.ts";
import type {
  HTTPAPISpec,
  HTTPAPISpecBinding,
  QuotaSpec,
  QuotaSpecBinding,
  SpecReference,
} from "../../kinds/legacy/mixer-client.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../../kinds/legacy/service-role.ts";
import { regexRules } from "../regex.ts";
import { dnsLabelRules, each } from "../values.ts";
import { istioServiceRules } from "./legacy-service.ts";

const required = (path: Path, what = "is required") => error(path, what, "", "missing-field");

/**
 * Top-level attributes are asked for as soon as there is a pattern.
 * @see docs/how-istio-does-it/kind-rules.md#mixer-clients
 */
export function* httpApiSpecRules(spec: HTTPAPISpec): Generator<Finding> {
  if (spec.patterns.length === 0) yield required(["patterns"], "needs at least one pattern");
  else if (spec.attributes?.attributes === undefined) yield required(["attributes"]);
  yield* each(spec.patterns, ["patterns"], function* (pattern, path) {
    if (pattern.attributes !== undefined && pattern.attributes.attributes === undefined) {
      yield required([...path, "attributes"]);
    }
    if (pattern.httpMethod === undefined) yield required([...path, "httpMethod"]);
    if (pattern.regex !== undefined) yield* regexRules(pattern.regex, [...path, "regex"]);
    else if (!pattern.uriTemplate) yield required([...path, "uriTemplate"]);
  });
  yield* each(spec.apiKeys, ["apiKeys"], function* (key, path) {
    if (Object.values(key).every((text) => text === "")) yield required(path, "needs one of query, header and cookie");
  });
}

export function* quotaSpecRules(spec: QuotaSpec): Generator<Finding> {
  if (spec.rules.length === 0) yield required(["rules"], "needs at least one rule");
  yield* each(spec.rules, ["rules"], function* (rule, path) {
    yield* each(rule.match, [...path, "match"], function* (match, at) {
      for (const [name, value] of Object.entries(match.clause ?? {})) {
        const where = [...at, "clause", name];
        if (Object.values(value).every((text) => text === "")) yield required(where, "must not be empty");
        else if (value.regex !== undefined) yield* regexRules(value.regex, [...where, "regex"]);
      }
    });
    if (rule.quotas.length === 0) yield required([...path, "quotas"], "needs at least one quota");
    yield* each(rule.quotas, [...path, "quotas"], function* ({ quota, charge = 0 }, at) {
      if (quota === undefined) yield required([...at, "quota"]);
      if (charge <= 0) yield error([...at, "charge"], `${charge} must be greater than 0`);
    });
  });
}

export function* httpApiSpecBindingRules(spec: HTTPAPISpecBinding): Generator<Finding> {
  yield* bindingRules(spec.services, spec.apiSpecs, "apiSpecs");
}

export function* quotaSpecBindingRules(spec: QuotaSpecBinding): Generator<Finding> {
  yield* bindingRules(spec.services, spec.quotaSpecs, "quotaSpecs");
}

function* bindingRules(
  services: readonly IstioService[],
  references: readonly SpecReference[],
  field: string,
): Generator<Finding> {
  if (services.length === 0) yield required(["services"], "needs at least one service");
  yield* each(services, ["services"], function* (service, path) {
    // A binding may name all services, or all of a namespace.
    if (service.service === undefined || !service.service.includes("*")) yield* istioServiceRules(service, path);
  });
  if (references.length === 0) yield required([field], "needs at least one entry");
  yield* each(references, [field], function* ({ name, namespace }, path) {
    if (name === undefined) yield required([...path, "name"]);
    if (namespace !== undefined) yield* dnsLabelRules(namespace, [...path, "namespace"]);
  });
}

/** @see docs/how-istio-does-it/kind-rules.md#roles-and-bindings */
export function* serviceRoleRules(spec: ServiceRole, meta: ConfigMeta): Generator<Finding> {
  if (spec.rules.length === 0) yield required(["rules"], "needs at least one rule");
  yield* each(spec.rules, ["rules"], function* (rule, path) {
    if (rule.services === undefined) yield required([...path, "services"]);
    if (meta.group === "config.istio.io" && rule.methods === undefined) yield required([...path, "methods"]);
    yield* each(rule.constraints, [...path, "constraints"], function* ({ key, values }, at) {
      if (key === undefined) yield required([...at, "key"]);
      if (values === undefined) yield required([...at, "values"]);
    });
  });
}

export function* serviceRoleBindingRules(spec: ServiceRoleBinding): Generator<Finding> {
  if (spec.subjects.length === 0) yield required(["subjects"], "needs at least one subject");
  yield* each(spec.subjects, ["subjects"], function* (subject, path) {
    if (Object.keys(subject).length === 0) yield required(path, "is empty");
  });
  const { roleRef } = spec;
  if (roleRef === undefined) yield required(["roleRef"]);
  else {
    if (roleRef.kind !== "ServiceRole") yield error(["roleRef", "kind"], 'must be "ServiceRole"');
    if (roleRef.name === undefined) yield required(["roleRef", "name"]);
  }
}

export function* rbacConfigRules(spec: RbacConfig, meta: ConfigMeta): Generator<Finding> {
  if (meta.name !== "default")
    yield error([], `a ${meta.kind} must be named "default", not ${JSON.stringify(meta.name)}`);
  if (spec.mode === "ON_WITH_INCLUSION" && spec.inclusion === undefined) yield required(["inclusion"]);
  if (spec.mode === "ON_WITH_EXCLUSION" && spec.exclusion === undefined) yield required(["exclusion"]);
}
