import { error, type Finding, type Path } from "../../config/finding.ts";
import type { Condition, Operation } from "../../config/kinds/authorization-policy.ts";
import type { AccessConstraint, AccessRule } from "../../config/kinds/legacy/service-role.ts";
import { isToken } from "../../config/rules/names.ts";
import { isIpOrCidr } from "../../config/values/ip-address.ts";
import type { ConstrainedWorkload, ServedPort } from "./served-port.ts";
import { inBrackets, matchesAny } from "./text-pattern.ts";

/** One rule of a ServiceRole in the words of AuthorizationPolicy, besides what only a workload can answer. */
export interface ConvertedAccess {
  /** Patterns for hosts of services. */
  readonly services: readonly string[];
  /** Undefined: any port. */
  readonly ports: readonly number[] | undefined;
  readonly notPorts: readonly number[];
  readonly operation: Operation;
  readonly when: readonly Condition[];
  /** Constraints about the workload itself (`destination.labels[…]`, `.name`, `.namespace`, `.user`). */
  readonly destination: readonly Required<AccessConstraint>[];
}

/** A converted part, or nothing together with what stands in the way: a part that grants access is never widened. */
export interface Conversion<T> {
  readonly value: T | undefined;
  readonly findings: readonly Finding[];
}

/** @param path of the rule, from the object's root */
export function convertAccess(rule: AccessRule, path: Path): Conversion<ConvertedAccess> {
  const { services = [], hosts, notHosts, methods, notMethods, paths, notPaths, ports, notPorts = [] } = rule;
  const constraints = (rule.constraints ?? []).map(({ key = "", values = [] }) => ({ key, values }));
  const findings = [
    ...templateFindings(paths, [...path, "paths"]),
    ...templateFindings(notPaths, [...path, "notPaths"]),
    ...constraints.flatMap((constraint, at) => constraintFindings(constraint, [...path, "constraints", at])),
  ];
  if (findings.length > 0) return { value: undefined, findings };
  const operation = {
    ...(hosts === undefined ? {} : { hosts }),
    ...(notHosts === undefined ? {} : { notHosts }),
    ...(methods === undefined ? {} : { methods }),
    ...(notMethods === undefined ? {} : { notMethods }),
    ...(paths === undefined ? {} : { paths }),
    ...(notPaths === undefined ? {} : { notPaths }),
  };
  const destination = constraints.filter(({ key }) => isAboutWorkload(key));
  const when = constraints.filter(({ key }) => !isAboutWorkload(key));
  return { value: { services, ports, notPorts, operation, when, destination }, findings };
}

/** Does the rule grant something on a port of a workload? */
export function grantsOn(
  access: ConvertedAccess,
  { service, number }: ServedPort,
  workload: ConstrainedWorkload,
): boolean {
  if (!matchesAny(service.hostname, access.services)) return false;
  if (access.ports?.includes(number) === false || access.notPorts.includes(number)) return false;
  return access.destination.every(({ key, values }) => {
    const text = aboutWorkload(key, service, workload);
    return text !== undefined && matchesAny(text, values);
  });
}

/** What the destination constraints of a rule read of a workload. */
export function destinationReads({ destination }: ConvertedAccess): {
  readonly labels: readonly string[];
  readonly serviceAccount: boolean;
} {
  return {
    labels: destination.flatMap(({ key }) => inBrackets(key, "destination.labels") ?? []),
    serviceAccount: destination.some(({ key }) => key === "destination.user"),
  };
}

function isAboutWorkload(key: string): boolean {
  return /^destination\.(name|namespace|user|labels\[.+\])$/.test(key);
}

function aboutWorkload(key: string, service: ServedPort["service"], workload: ConstrainedWorkload): string | undefined {
  switch (key) {
    case "destination.name":
      return service.name;
    case "destination.namespace":
      return service.namespace;
    case "destination.user":
      return workload.serviceAccount;
    default:
      return workload.labels[inBrackets(key, "destination.labels") ?? ""];
  }
}

function constraintFindings({ key, values }: Required<AccessConstraint>, path: Path): readonly Finding[] {
  if (isAboutWorkload(key)) return [];
  const known =
    ["destination.ip", "destination.port", "connection.sni"].includes(key) ||
    isHeaderKey(key) ||
    /^experimental\.envoy\.filters\.[^[]+\[.+\]$/.test(key);
  if (!known) {
    return [
      dropped(
        [...path, "key"],
        `proxies do not support the constraint ${JSON.stringify(key)}`,
        "write one that is documented",
      ),
    ];
  }
  const isValid =
    key === "destination.ip"
      ? isIpOrCidr
      : key === "destination.port"
        ? (value: string) => /^\d{1,5}$/.test(value) && Number(value) <= 65535
        : () => true;
  return values.flatMap((value, at) =>
    isValid(value) ? [] : [dropped([...path, "values", at], `${JSON.stringify(value)} is no value of ${key}`)],
  );
}

/** A literal text that AuthorizationPolicy would take for a path template. */
function templateFindings(paths: readonly string[] | undefined, path: Path): readonly Finding[] {
  return (paths ?? []).flatMap((text, at) =>
    /\{\*\*?\}/.test(text)
      ? [dropped([...path, at], `${JSON.stringify(text)} would be read as a template`, "name the paths")]
      : [],
  );
}

export function isHeaderKey(key: string): boolean {
  return isToken((inBrackets(key, "request.headers") ?? "").replace(/^:/, ""));
}

/** What cannot be said grants nothing: the part that says it is left out. */
export function dropped(path: Path, message: string, hint = ""): Finding {
  return error(path, `${message}; the rule grants nothing`, hint, "legacy-not-expressible");
}
