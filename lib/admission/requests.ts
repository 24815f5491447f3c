/** Requests by which two sets of policies are told apart, and what a policy says of one. */

import type { Condition, Operation, Rule, Source } from "../config/kinds/authorization-policy.ts";
import { isInRange, readIpRange } from "../config/values/ip-address.ts";

/** A request, by the names that conditions have for what it brings; what is absent it does not bring. */
export type Request = ReadonlyMap<string, string>;

type Lists<T> = { readonly [Field in keyof T]: T[Field] };
type Attribute = readonly [attribute: string, isNegative: boolean];

const sourceFields: Readonly<Record<keyof Source, Attribute>> = {
  principals: ["source.principal", false],
  notPrincipals: ["source.principal", true],
  requestPrincipals: ["request.auth.principal", false],
  notRequestPrincipals: ["request.auth.principal", true],
  namespaces: ["source.namespace", false],
  notNamespaces: ["source.namespace", true],
  serviceAccounts: ["source.serviceAccount", false],
  notServiceAccounts: ["source.serviceAccount", true],
  trustDomains: ["source.trustDomain", false],
  notTrustDomains: ["source.trustDomain", true],
  ipBlocks: ["source.ip", false],
  notIpBlocks: ["source.ip", true],
  remoteIpBlocks: ["remote.ip", false],
  notRemoteIpBlocks: ["remote.ip", true],
};

const operationFields: Readonly<Record<keyof Operation, Attribute>> = {
  hosts: ["request.host", false],
  notHosts: ["request.host", true],
  ports: ["destination.port", false],
  notPorts: ["destination.port", true],
  methods: ["request.method", false],
  notMethods: ["request.method", true],
  paths: ["request.url_path", false],
  notPaths: ["request.url_path", true],
};

/** One list of a rule: any of the patterns, or none of them. */
interface Test {
  readonly attribute: string;
  readonly isNegative: boolean;
  readonly patterns: readonly string[];
}

const testsOf = <T extends object>(part: Lists<T>, fields: Readonly<Record<string, Attribute>>): readonly Test[] =>
  Object.entries(part).flatMap(([field, patterns]) => {
    const [attribute, isNegative] = fields[field] ?? [];
    if (attribute === undefined || isNegative === undefined || !Array.isArray(patterns) || patterns.length === 0)
      return [];
    return [{ attribute, isNegative, patterns }];
  });

const conditionTests = ({ key, values = [], notValues = [] }: Condition): readonly Test[] => [
  ...(values.length === 0 ? [] : [{ attribute: key, isNegative: false, patterns: values }]),
  ...(notValues.length === 0 ? [] : [{ attribute: key, isNegative: true, patterns: notValues }]),
];

/** A rule, as lists: any of the sources, any of the operations, and all conditions. */
interface Tests {
  readonly sources: readonly (readonly Test[])[];
  readonly operations: readonly (readonly Test[])[];
  readonly conditions: readonly Test[];
}

const testsByRule = new WeakMap<Rule, Tests>();

function testsIn(rule: Rule): Tests {
  const known = testsByRule.get(rule);
  if (known !== undefined) return known;
  const { from = [], to = [], when = [] } = rule;
  const tests = {
    sources: from.length === 0 ? [[]] : from.map(({ source }) => testsOf(source, sourceFields)),
    operations: to.length === 0 ? [[]] : to.map(({ operation }) => testsOf(operation, operationFields)),
    conditions: when.flatMap(conditionTests),
  };
  testsByRule.set(rule, tests);
  return tests;
}

/** How many patterns a rule has: what it costs to match it. */
export function sizeOf(rule: Rule): number {
  const { sources, operations, conditions } = testsIn(rule);
  return [...sources, ...operations, conditions].flat().reduce((sum, { patterns }) => sum + patterns.length, 1);
}

/** Whether a rule matches a request. */
export function ruleMatches(rule: Rule, request: Request): boolean {
  const { sources, operations, conditions } = testsIn(rule);
  const holds = (tests: readonly Test[]) => tests.every((test) => testHolds(test, request));
  return holds(conditions) && sources.some(holds) && operations.some(holds);
}

function testHolds({ attribute, isNegative, patterns }: Test, request: Request): boolean {
  const value = request.get(attribute);
  const isAmong = value !== undefined && patterns.some((pattern) => patternMatches(attribute, pattern, value));
  return isAmong !== isNegative;
}

const addresses: ReadonlySet<string> = new Set(["source.ip", "remote.ip", "destination.ip"]);

function patternMatches(attribute: string, pattern: string, value: string): boolean {
  if (addresses.has(attribute)) return isInRange(value, pattern);
  if (attribute === "source.serviceAccount" && !pattern.includes("/")) return value.endsWith(`/${pattern}`);
  const [text, wanted] = attribute === "request.host" ? [value.toLowerCase(), pattern.toLowerCase()] : [value, pattern];
  if (wanted === "*") return text !== "";
  // Of a template what stands before its first variable and behind the last one.
  const open = wanted.indexOf("{");
  if (open >= 0)
    return text.startsWith(wanted.slice(0, open)) && text.endsWith(wanted.slice(wanted.lastIndexOf("}") + 1));
  if (wanted.endsWith("*")) return text.startsWith(wanted.slice(0, -1));
  return wanted.startsWith("*") ? text.endsWith(wanted.slice(1)) : text === wanted;
}

/** What a caller brings that no policy names: without an identity, with one of the mesh, and each with a token or without. */
const stranger = { ns: "stranger.invalid", account: "stranger" } as const;
const place: readonly (readonly [string, string])[] = [
  ["request.method", "GET"],
  ["request.url_path", "/other.invalid"],
  ["request.host", "other.invalid"],
  ["destination.port", "1"],
];
const callers: readonly Request[] = ["192.0.2.7", "2001:db8::7"].flatMap((ip) => {
  const plain = [...place, ["source.ip", ip], ["remote.ip", ip]] as const;
  const known = [...plain, ...identity("cluster.local", stranger.ns, stranger.account)];
  const token = ["request.auth.principal", "stranger.invalid/stranger"] as const;
  return [plain, known, [...plain, token], [...known, token]].map((entries) => new Map(entries));
});

function identity(domain: string, namespace: string, account: string): readonly (readonly [string, string])[] {
  return [
    ["source.principal", `${domain}/ns/${namespace}/sa/${account}`],
    ["source.namespace", namespace],
    ["source.serviceAccount", `${namespace}/${account}`],
    ["source.trustDomain", domain],
  ];
}

/** A request that a policy was made for, or a stranger's. */
export interface Witness {
  readonly request: Request;
  /** Nothing of what says who calls is taken from a policy. */
  readonly isStranger: boolean;
}

/**
 * Requests at which two sets of policies may differ: those of strangers, and for each rule those that it names, one entry after the other.
 *
 * @param changed rules of the policy that changes, before and after
 * @param beside rules of policies that allow something whatever the change is: a request that a DENY lets go has to be one that they allow
 * @param most requests that are made
 * @returns undefined where there would be more
 */
export function witnessesOf(
  changed: readonly Rule[],
  beside: readonly Rule[],
  most: number,
): readonly Witness[] | undefined {
  const settings = [[], ...changed.flatMap(settingsOf)];
  const bases = [[], ...beside.map((rule) => settingsOf(rule)[0] ?? [])];
  const few = callers.filter((_, at) => at === 0 || at === 3);
  if (callers.length * bases.length + settings.length * bases.length * few.length > most) return undefined;
  return bases.flatMap((base) =>
    settings.flatMap((setting) =>
      (setting.length === 0 ? callers : few).map((caller) => witnessOf(caller, [...base, ...setting])),
    ),
  );
}

type Setting = readonly (readonly [attribute: string, pattern: string])[];

/** The first entries of a rule, and each other entry in their place. */
function settingsOf(rule: Rule): readonly Setting[] {
  const { sources, operations, conditions } = testsIn(rule);
  const [source = []] = sources;
  const [operation = []] = operations;
  const firstOf = (tests: readonly Test[]): Setting =>
    tests.flatMap(({ attribute, isNegative, patterns: [pattern = ""] }) =>
      isNegative ? [] : [[attribute, pattern] as const],
    );
  const eachOf = (tests: readonly Test[], base: Setting): readonly Setting[] => [
    [...base, ...firstOf(tests)],
    ...tests.flatMap(({ attribute, patterns }) =>
      patterns.map((pattern) => [...base, ...firstOf(tests), [attribute, pattern] as const]),
    ),
  ];
  return [
    ...sources.flatMap((one) => eachOf(one, firstOf([...operation, ...conditions]))),
    ...operations.flatMap((one) => eachOf(one, firstOf([...source, ...conditions]))),
    ...eachOf(conditions, firstOf([...source, ...operation])),
  ];
}

function witnessOf(caller: Request, setting: Setting): Witness {
  const request = new Map(caller);
  let isStranger = true;
  for (const [attribute, pattern] of setting) {
    const value = instanceOf(attribute, pattern, caller);
    if (ofCallers.test(attribute) && value !== caller.get(attribute)) isStranger = false;
    request.set(attribute, value);
    for (const [name, part] of partsOfIdentity(attribute, value)) request.set(name, part);
  }
  return { request, isStranger };
}

const ofCallers = /^(?:source|remote|request\.auth)\./;

/** A value that a pattern matches; the caller's own where that is one. */
function instanceOf(attribute: string, pattern: string, caller: Request): string {
  const own = caller.get(attribute);
  if (own !== undefined && patternMatches(attribute, pattern, own)) return own;
  if (addresses.has(attribute)) return readIpRange(pattern)?.address ?? pattern;
  if (pattern === "*")
    return attribute === "source.principal" ? `cluster.local/ns/${stranger.ns}/sa/${stranger.account}` : "other";
  return pattern.replaceAll("{**}", "other").replaceAll("{*}", "other").replace("*", "other");
}

/** What else an identity says, by one part of it. */
function partsOfIdentity(attribute: string, value: string): readonly (readonly [string, string])[] {
  switch (attribute) {
    case "source.namespace":
      return identity("cluster.local", value, stranger.account);
    case "source.trustDomain":
      return identity(value, stranger.ns, stranger.account);
    case "source.serviceAccount": {
      const [namespace = "", account] = value.split("/");
      return account === undefined
        ? identity("cluster.local", stranger.ns, namespace)
        : identity("cluster.local", namespace, account);
    }
    case "source.principal": {
      const [domain = "", , namespace = "", , account = ""] = value.split("/");
      return namespace === "" ? [] : identity(domain, namespace, account);
    }
    default:
      return [];
  }
}

/** For messages: `GET /admin from shop/web`. */
export function requestText(request: Request, base = callers[0] ?? new Map()): string {
  const method = request.get("request.method") ?? "";
  const path = request.get("request.url_path") ?? "";
  const account = request.get("source.serviceAccount");
  const more = [...request].filter(([name, value]) => !shown.has(name) && base.get(name) !== value);
  const who = account === undefined || account.startsWith(stranger.ns) ? "anybody" : account;
  return `${method} ${path === "/other.invalid" ? "/" : path} from ${who}${more.map(([name, value]) => `, ${name} ${value}`).join("")}`;
}

const shown: ReadonlySet<string> = new Set([
  "request.method",
  "request.url_path",
  "source.principal",
  "source.namespace",
  "source.serviceAccount",
  "source.trustDomain",
]);
