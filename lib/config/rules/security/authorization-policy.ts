import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { AuthorizationPolicy, Condition, Operation, Rule, Source } from "../../kinds/authorization-policy.ts";
import { copiesRules, jsonLength } from "../expansion.ts";
import { policyTargetRules } from "../selectors.ts";
import { each, ipOrCidrRules } from "../values.ts";
import { conditionRules, unsupportedByCustom } from "./authorization-condition.ts";
import { portTextRules, principalRules, serviceAccountRules, trustDomainRules } from "./authorization-values.ts";
import { pathTemplateRules } from "./path-template.ts";

const maxRules = 512;

/** @see docs/how-istio-does-it/kind-rules.md#authorizationpolicy */
export function* authorizationPolicyRules(spec: AuthorizationPolicy): Generator<Finding> {
  yield* policyTargetRules(spec);
  const { action = "ALLOW", provider, rules } = spec;
  if (action === "CUSTOM") {
    if (rules === undefined) yield error(["rules"], "is required for CUSTOM", "", "missing-field");
    if (provider?.name === undefined) yield error(["provider", "name"], "is required for CUSTOM", "", "missing-field");
  } else if (provider !== undefined) {
    yield error(["provider"], `has no meaning with action ${action}`, "use action CUSTOM", "conflicting-fields");
  }
  if (action === "DENY" && rules === undefined) {
    yield error(["rules"], "is required for DENY", "a rule {} denies everything", "missing-field");
  }
  if ((rules?.length ?? 0) > maxRules) yield error(["rules"], `has more than ${maxRules} entries`);
  yield* each(rules, ["rules"], (rule, path) => ruleRules(rule, path, action));
}

function* ruleRules(rule: Rule, path: Path, action: string): Generator<Finding> {
  const { from, to, when } = rule;
  // Every source and every operation of the rule takes its conditions along.
  const copies = (from?.length ?? 1) + (to?.length ?? 1);
  yield* copiesRules(jsonLength(when), { "sources and operations": copies }, "conditions", path);
  for (const name of ["from", "to"] as const) {
    if (rule[name]?.length === 0)
      yield error([...path, name], "must not be an empty list", "leave it out", "missing-field");
  }
  yield* each(from, [...path, "from"], ({ source }, at) => sourceRules(source, [...at, "source"], action));
  yield* each(to, [...path, "to"], ({ operation }, at) => operationRules(operation, [...at, "operation"], action));
  yield* each(when, [...path, "when"], function* (condition: Condition, at) {
    yield* conditionRules(condition, at);
    if (action === "CUSTOM" && unsupportedByCustom(condition.key)) {
      yield error([...at, "key"], `${condition.key} is not supported by CUSTOM`);
    }
  });
  if (action === "DENY") yield* tcpDenialRules(rule, path);
}

const identityFields = ["principals", "requestPrincipals", "namespaces", "serviceAccounts", "trustDomains"] as const;
const addressFields = ["ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks"] as const;

/** `principals` → `notPrincipals`. */
type Negated<Name extends string> = `not${Capitalize<Name>}`;

function negated<const Name extends string>(name: Name): Negated<Name> {
  // TypeScript cannot follow the change of the first letter.
  return `not${name.charAt(0).toUpperCase()}${name.slice(1)}` as Negated<Name>;
}

/** What a rule does with every request that one of its parts does not tell apart. */
const effects: ReadonlyMap<string, string> = new Map([
  ["ALLOW", "allows every"],
  ["DENY", "denies every"],
  ["AUDIT", "audits every"],
  ["CUSTOM", "asks its provider about every"],
]);

/** A field that the API server does not know is gone before anybody reads the object, so it may have been there. */
function isEmpty(path: Path, example: string, action: string, of: "source" | "operation"): Finding {
  const without = `without ${of} the rule ${effects.get(action) ?? "matches every"} ${of}`;
  const dropped = "the API server drops fields that it does not know (`kubectl apply --validate=strict` names them)";
  return error(path, "is empty", `write for example ${example}; ${without}; ${dropped}`, "missing-field");
}

function* sourceRules(source: Source, path: Path, action: string): Generator<Finding> {
  if (Object.keys(source).length === 0) yield isEmpty(path, 'namespaces: ["shop"]', action, "source");
  if (action === "CUSTOM") {
    for (const name of identityFields.flatMap((field) => [field, negated(field)])) {
      if (source[name] !== undefined) yield error([...path, name], "is not supported by CUSTOM");
    }
  }
  const accounts = source.serviceAccounts ?? source.notServiceAccounts;
  const others = (["principals", "notPrincipals", "namespaces", "notNamespaces"] as const).filter(
    (name) => source[name] !== undefined,
  );
  if (accounts !== undefined && others.length > 0) {
    yield error(
      path,
      `serviceAccounts and ${others.join(", ")} exclude each other`,
      "keep one of them",
      "conflicting-fields",
    );
  }
  yield* emptyTextRules(source, path);
  for (const name of addressFields) yield* each(source[name], [...path, name], ipOrCidrRules);
  for (const name of ["serviceAccounts", "notServiceAccounts"] as const) {
    if ((source[name]?.length ?? 0) > 16) yield error([...path, name], "has more than 16 entries");
    yield* each(source[name], [...path, name], serviceAccountRules);
  }
  for (const name of ["principals", "notPrincipals"] as const)
    yield* each(source[name], [...path, name], principalRules);
  for (const name of ["trustDomains", "notTrustDomains"] as const)
    yield* each(source[name], [...path, name], trustDomainRules);
}

function* emptyTextRules(lists: Source | Operation, path: Path): Generator<Finding> {
  for (const [name, list] of Object.entries(lists)) {
    const texts: readonly string[] = list;
    for (const [index, text] of texts.entries())
      if (text === "") yield error([...path, name, index], "must not be empty");
  }
}

function* operationRules(operation: Operation, path: Path, action: string): Generator<Finding> {
  if (Object.keys(operation).length === 0) {
    yield isEmpty(path, 'paths: ["/admin"]', action, "operation");
  }
  yield* emptyTextRules(operation, path);
  for (const name of ["ports", "notPorts"] as const) yield* each(operation[name], [...path, name], portTextRules);
  for (const name of ["paths", "notPaths"] as const) yield* each(operation[name], [...path, name], pathTemplateRules);
}

const tcpSourceFields = [
  "principals",
  "namespaces",
  "ipBlocks",
  "remoteIpBlocks",
  "serviceAccounts",
  "notPrincipals",
  "notNamespaces",
  "notIpBlocks",
  "notRemoteIpBlocks",
  "notServiceAccounts",
] as const;

/** Conditions that only requests have: on a TCP port they fall out of a DENY rule. */
const httpCondition = /^request\./;

/**
 * Warns of a DENY rule with HTTP attributes that does not say for which ports it is: on TCP ports it denies far more than is written.
 * Istio says nothing of a rule that has only `when`, nor of one with ports in another of its operations.
 * @see istio 1.30.3 pkg/config/validation/validation.go, ValidateAuthorizationPolicy
 */
function* tcpDenialRules({ from, to, when }: Rule, path: Path): Generator<Finding> {
  const hasTcpSource = from?.some(({ source }) => tcpSourceFields.some((name) => source[name] !== undefined)) ?? false;
  // Each operation counts by itself: of one without ports nothing is left on a TCP port, so it stands for every connection.
  const hasPorts = to?.every(({ operation }) => operation.ports !== undefined || operation.notPorts !== undefined);
  const part = to !== undefined ? "to" : from !== undefined ? "from" : "when";
  const onlyHttp = {
    to: hasPorts !== true,
    from: !hasTcpSource,
    when: when?.every(({ key }) => httpCondition.test(key)) === true,
  }[part];
  if (!onlyHttp || (part !== "when" && (part === "to" ? to : from)?.length === 0)) return;
  const others = part !== "when" && (hasTcpSource || when?.some(({ key }) => !httpCondition.test(key)) === true);
  yield warning(
    [...path, part],
    `HTTP attributes do not count on TCP ports, so there the rule denies every connection${others ? " that its other conditions match" : ""}`,
    "say for which ports it is: add `ports` to the operation",
  );
}
