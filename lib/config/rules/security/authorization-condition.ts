import { error, type Finding, type Path } from "../../finding.ts";
import type { Condition } from "../../kinds/authorization-policy.ts";
import { ipOrCidrRules } from "../values.ts";
import {
  headerNameRules,
  portTextRules,
  principalRules,
  serviceAccountRules,
  trustDomainRules,
} from "./authorization-values.ts";

type ValueCheck = (value: string, path: Path) => Iterable<Finding>;

const anything: ValueCheck = () => [];

/** Keys without parts → how their values are checked. */
const plainKeys: Readonly<Record<string, ValueCheck>> = {
  "source.ip": ipOrCidrRules,
  "remote.ip": ipOrCidrRules,
  "source.namespace": anything,
  "source.serviceAccount": serviceAccountRules,
  "source.principal": principalRules,
  "source.trustDomain": trustDomainRules,
  "request.auth.principal": anything,
  "request.auth.audiences": anything,
  "request.auth.presenter": anything,
  "destination.ip": ipOrCidrRules,
  "destination.port": portTextRules,
  "connection.sni": anything,
};

const mapKeys: readonly RegExp[] = [
  /^request\.headers\[[^\]]+\]$/,
  /^request\.auth\.claims(?:\[[^\]]+\])+$/,
  /^experimental\.envoy\.filters\.[a-z_.]+\[[^\]]+\]$/,
];

const removedKeys: Readonly<Record<string, string>> = {
  "destination.namespace": "put the policy into that namespace",
  "destination.name": "select the workload with the policy's selector",
  "destination.user": "use destination service accounts in the policy's own namespace",
};

/** @see docs/how-istio-does-it/kind-rules.md#conditions */
export function* conditionRules(condition: Condition, path: Path): Generator<Finding> {
  const { key, values, notValues } = condition;
  if (key === "") yield error([...path, "key"], "is required", "", "missing-field");
  if (values === undefined && notValues === undefined) {
    yield error(path, "needs values or notValues", "", "missing-field");
  }
  if (key === "") return;
  const check = plainKeys[key];
  if (check === undefined) {
    if (mapKeys.some((pattern) => pattern.test(key))) {
      const header = /^request\.headers\[([^\]]+)\]$/.exec(key)?.[1];
      if (header !== undefined) yield* headerNameRules(header, [...path, "key"]);
      return;
    }
    const removed = key.startsWith("destination.labels")
      ? "select the workload with the policy's selector"
      : removedKeys[key];
    yield error(
      [...path, "key"],
      `${JSON.stringify(key)} is not an attribute`,
      removed ?? `known: ${Object.keys(plainKeys).join(", ")}, request.headers[...], request.auth.claims[...]`,
    );
    return;
  }
  for (const name of ["values", "notValues"] as const) {
    for (const [index, value] of (condition[name] ?? []).entries()) yield* check(value, [...path, name, index]);
  }
}

const identityKeys: ReadonlySet<string> = new Set([
  "source.namespace",
  "source.serviceAccount",
  "source.trustDomain",
  "source.principal",
]);

/** An external authorizer is asked before anything is known of the client's identity. */
export function unsupportedByCustom(key: string): boolean {
  return identityKeys.has(key) || key.startsWith("request.auth.");
}
