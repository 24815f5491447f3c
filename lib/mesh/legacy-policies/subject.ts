import type { Finding, Path } from "../../config/finding.ts";
import type { Condition, Source } from "../../config/kinds/authorization-policy.ts";
import type { Subject } from "../../config/kinds/legacy/service-role.ts";
import { isIpOrCidr } from "../../config/values/ip-address.ts";
import { type Conversion, dropped, isHeaderKey } from "./access-rule.ts";
import { inBrackets } from "./text-pattern.ts";

/** One subject of a ServiceRoleBinding in the words of AuthorizationPolicy: all that is given must hold. */
export interface ConvertedSubject {
  /** Without any field: whoever asks. */
  readonly source: Source;
  /** `request.auth.principal` still means what the authentication policy of the port binds it to. */
  readonly when: readonly Condition[];
}

const groupsClaim = "request.auth.claims[groups]";

/**
 * Of one key only one list fits into a source, so that the lists behind the first become conditions.
 *
 * `*` among names means everybody, with or without a certificate; `allAuthenticatedUsers`, and `*` as the property
 * `source.principal`, everybody with one. (Istio 1.4 took the latter for everybody too, against its documentation; its
 * converter of 1.5 did not.)
 *
 * @param path of the subject, from the object's root
 * @see istio 1.4.10 pilot/pkg/security/authz/model/principal.go
 */
export function convertSubject(subject: Subject, path: Path): Conversion<ConvertedSubject> {
  const findings = subjectFindings(subject, path);
  if (findings.length > 0) return { value: undefined, findings };
  const { user, group, names, notNames, groups, notGroups, namespaces, notNamespaces, ips, notIps } = subject;
  const properties = Object.entries(subject.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const property = (key: string): readonly string[] | undefined => {
    const value = subject.properties?.[key];
    return value === undefined ? undefined : [value];
  };
  const principals = [
    everybody(user === undefined ? undefined : [user]),
    everybody(names),
    namedUsers(property("source.principal")),
    namedUsers(property("source.user")),
  ];
  const [source, more] = place([
    { key: "source.principal", field: "principals", lists: principals },
    { key: "source.namespace", field: "namespaces", lists: [namespaces, property("source.namespace")] },
    { key: "source.ip", field: "ipBlocks", lists: [ips, property("source.ip")] },
  ]);
  const notPrincipals = everybody(notNames);
  const others = properties.filter(([key]) => !sourceKeys.has(key));
  return {
    value: {
      source: {
        ...source,
        ...(notPrincipals === undefined ? {} : { notPrincipals }),
        ...(notNamespaces === undefined ? {} : { notNamespaces }),
        ...(notIps === undefined ? {} : { notIpBlocks: notIps }),
      },
      when: [
        ...more,
        ...[group === undefined ? undefined : [group], groups].flatMap((values) =>
          values === undefined ? [] : [{ key: groupsClaim, values }],
        ),
        ...(notGroups === undefined ? [] : [{ key: groupsClaim, notValues: notGroups }]),
        ...others.map(([key, value]) => ({ key, values: [value] })),
      ],
    },
    findings,
  };
}

const sourceKeys: ReadonlySet<string> = new Set(["source.principal", "source.user", "source.namespace", "source.ip"]);

interface Lists {
  readonly key: string;
  readonly field: "principals" | "namespaces" | "ipBlocks";
  readonly lists: readonly (readonly string[] | undefined)[];
}

function place(all: readonly Lists[]): readonly [Source, readonly Condition[]] {
  const given = all.map(({ lists, ...rest }) => ({ ...rest, lists: lists.filter((list) => list !== undefined) }));
  const first = given.flatMap(({ field, lists: [list] }) => (list === undefined ? [] : [[field, list] as const]));
  const others = given.flatMap(({ key, lists }) => lists.slice(1).map((values): Condition => ({ key, values })));
  return [Object.fromEntries(first), others];
}

/** Names without any that means everybody; undefined: they say nothing. */
function everybody(names: readonly string[] | undefined): readonly string[] | undefined {
  return names?.some((name) => name === "*" || name === "allUsers") ? undefined : namedUsers(names);
}

function namedUsers(names: readonly string[] | undefined): readonly string[] | undefined {
  return names?.map((name) => (name === "allAuthenticatedUsers" ? "*" : name));
}

function subjectFindings(subject: Subject, path: Path): readonly Finding[] {
  const addresses = (["ips", "notIps"] as const).flatMap((field) =>
    (subject[field] ?? []).flatMap((value, at) =>
      isIpOrCidr(value) ? [] : [dropped([...path, field, at], `${JSON.stringify(value)} is no address or range`)],
    ),
  );
  const excluded = (subject.notNames ?? []).findIndex((name) => name === "*" || name === "allUsers");
  const properties = Object.entries(subject.properties ?? {}).flatMap(([key, value]) => {
    const at = [...path, "properties", key];
    if (!isProperty(key)) return [dropped(at, `proxies do not support the property ${JSON.stringify(key)}`)];
    if (key !== "source.ip" || isIpOrCidr(value)) return [];
    return [dropped(at, `${JSON.stringify(value)} is no address or range`)];
  });
  return [
    ...addresses,
    ...(excluded < 0 ? [] : [dropped([...path, "notNames", excluded], "excludes every caller")]),
    ...properties,
  ];
}

function isProperty(key: string): boolean {
  if (sourceKeys.has(key) || isHeaderKey(key)) return true;
  if (["request.auth.principal", "request.auth.audiences", "request.auth.presenter"].includes(key)) return true;
  return /^[^[\]]+(\]\[[^[\]]+)*$/.test(inBrackets(key, "request.auth.claims") ?? "");
}
