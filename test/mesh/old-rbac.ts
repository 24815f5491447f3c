/** Istio's first RBAC as it was documented, as a judge of requests. */
import type { Config } from "../../lib/config/config.ts";
import type {
  AccessRule,
  RbacConfig,
  ServiceRole,
  ServiceRoleBinding,
  Subject,
} from "../../lib/config/kinds/legacy/service-role.ts";
import type { Service } from "../../lib/registry/service.ts";
import type { Asked } from "./envoy-rbac.ts";

/** The old objects of a mesh, and what they are about. */
export interface OldRbac {
  readonly config: RbacConfig | undefined;
  readonly roles: readonly Config<ServiceRole>[];
  readonly bindings: readonly Config<ServiceRoleBinding>[];
}

/** What a workload is, as far as roles ask. */
export interface OldWorkload {
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  /** The service whose port leads to a port of the workload. */
  serviceOn(port: number): Service | undefined;
}

/** What Istio up to 1.5 decided. */
export function oldRbacAllows({ config, roles, bindings }: OldRbac, workload: OldWorkload, asked: Asked): boolean {
  const service = workload.serviceOn(asked.port);
  if (config === undefined || service === undefined || config.enforcementMode === "PERMISSIVE") return true;
  const { namespace } = service.attributes;
  const lists = (target: RbacConfig["inclusion"]) =>
    (target?.services ?? []).includes(service.hostname) || (target?.namespaces ?? []).includes(namespace);
  const governed =
    config.mode === "ON" ||
    (config.mode === "ON_WITH_INCLUSION" && lists(config.inclusion)) ||
    (config.mode === "ON_WITH_EXCLUSION" && !lists(config.exclusion));
  if (!governed) return true;
  return roles
    .filter(({ meta }) => meta.namespace === namespace)
    .some((role) => {
      const given = bindings.filter(
        ({ meta, spec }) =>
          meta.namespace === namespace && spec.roleRef?.name === role.meta.name && spec.mode !== "PERMISSIVE",
      );
      return (
        role.spec.rules.some((rule) => ruleAllows(rule, service, workload, asked)) &&
        given.some(({ spec }) => spec.subjects.some((subject) => isSubject(subject, asked)))
      );
    });
}

/** For ranges of whole IPv4 octets. */
function within(address: string, range: string): boolean {
  const [prefix = "", bits = "32"] = range.split("/");
  const octets = Number(bits) / 8;
  return address.split(".").slice(0, octets).join() === prefix.split(".").slice(0, octets).join();
}

const like = (text: string, patterns: readonly string[]): boolean =>
  patterns.some(
    (pattern) =>
      pattern === "*" ||
      pattern === text ||
      (pattern.endsWith("*") && text.startsWith(pattern.slice(0, -1))) ||
      (pattern.startsWith("*") && text.endsWith(pattern.slice(1))),
  );

function ruleAllows(
  rule: AccessRule,
  service: Service,
  { labels, serviceAccount }: OldWorkload,
  asked: Asked,
): boolean {
  const isIn = (text: string, patterns: readonly string[] | undefined) =>
    patterns === undefined || like(text, patterns);
  const isOut = (text: string, patterns: readonly string[] | undefined) =>
    patterns === undefined || !like(text, patterns);
  return (
    isIn(service.hostname, rule.services) &&
    isIn(asked.host, rule.hosts) &&
    isOut(asked.host, rule.notHosts) &&
    isIn(asked.method, rule.methods) &&
    isOut(asked.method, rule.notMethods) &&
    isIn(asked.path, rule.paths) &&
    isOut(asked.path, rule.notPaths) &&
    (rule.ports === undefined || rule.ports.includes(asked.port)) &&
    (rule.notPorts === undefined || !rule.notPorts.includes(asked.port)) &&
    (rule.constraints ?? []).every(({ key = "", values = [] }) => {
      const inner = /\[(.*)\]$/.exec(key)?.[1] ?? "";
      if (key.startsWith("destination.labels[")) return labels[inner] !== undefined && like(labels[inner], values);
      if (key.startsWith("request.headers[")) {
        const value = asked.headers[inner];
        return value !== undefined && like(value, values);
      }
      if (key === "destination.port") return values.includes(String(asked.port));
      if (key === "destination.name") return like(service.attributes.name, values);
      if (key === "destination.namespace") return like(service.attributes.namespace, values);
      return key === "destination.user" && like(serviceAccount, values);
    })
  );
}

function isSubject(subject: Subject, { peer, from, token, headers }: Asked): boolean {
  const isPeer = (names: readonly string[]): boolean =>
    names.some((name) => {
      if (name === "*" || name === "allUsers") return true;
      return peer !== undefined && like(peer, [name === "allAuthenticatedUsers" ? "*" : name]);
    });
  const isFromNamespace = (names: readonly string[]): boolean => {
    const own = peer?.split("/ns/")[1]?.split("/")[0];
    return own !== undefined && like(own, names);
  };
  const inGroup = (names: readonly string[]): boolean => hasClaim(token, "groups", names);
  const comesFrom = (ranges: readonly string[]): boolean => ranges.some((range) => within(from, range));
  const given: readonly (boolean | undefined)[] = [
    subject.user === undefined ? undefined : isPeer([subject.user]),
    subject.names && isPeer(subject.names),
    subject.notNames && !isPeer(subject.notNames),
    subject.group === undefined ? undefined : inGroup([subject.group]),
    subject.groups && inGroup(subject.groups),
    subject.notGroups && !inGroup(subject.notGroups),
    subject.namespaces && isFromNamespace(subject.namespaces),
    subject.notNamespaces && !isFromNamespace(subject.notNamespaces),
    subject.ips && comesFrom(subject.ips),
    subject.notIps && !comesFrom(subject.notIps),
    ...Object.entries(subject.properties ?? {}).map(([key, value]) => {
      const inner = /\[(.*)\]$/.exec(key)?.[1] ?? "";
      if (key === "source.principal" || key === "source.user") return peer !== undefined && like(peer, [value]);
      if (key === "source.namespace") return isFromNamespace([value]);
      if (key === "source.ip") return within(from, value);
      if (key === "request.auth.audiences") return hasClaim(token, "aud", [value]);
      if (key.startsWith("request.auth.claims[")) return hasClaim(token, inner, [value]);
      return key.startsWith("request.headers[") && headers[inner] !== undefined && like(headers[inner], [value]);
    }),
  ];
  return given.every((holds) => holds !== false);
}

function hasClaim(token: Asked["token"], name: string, values: readonly string[]): boolean {
  const claim = token?.[name];
  if (claim === undefined) return false;
  return typeof claim === "string" ? like(claim, values) : claim.some((element) => like(element, values));
}
