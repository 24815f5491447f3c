/**
 * What objects of the old kinds became, and what of them names nothing or means something else now. Every object in force says
 * at least one thing, so that whoever still has one knows what to write instead.
 */

import { keyText } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { type Finding, info, type Path, warning } from "../../config/finding.ts";
import type { AuthenticationPolicy, TargetSelector } from "../../config/kinds/legacy/authentication-policy.ts";
import type { RbacConfig } from "../../config/kinds/legacy/service-role.ts";
import type { Service } from "../../registry/service.ts";
import { isPort, mutualTlsMode, targetHost } from "./authentication-index.ts";
import type { BoundRole } from "./bound-roles.ts";
import { isEnforced } from "./rbac-config.ts";
import type { NamedService } from "./served-port.ts";
import { matchesAny, matchesPattern } from "./text-pattern.ts";
import { isPlainIssuer, meaningOf, tokensOf } from "./token-policies.ts";
import { triggerFindings } from "./trigger-region.ts";

type Policy = Config<AuthenticationPolicy>;

export const namedService = ({ hostname, attributes: { namespace, name } }: Service): NamedService => ({
  hostname,
  namespace,
  name,
});

/** @param services those of the role's namespace */
export function roleFindings(
  { role, rules, enforced, permissive }: BoundRole,
  config: Config<RbacConfig> | undefined,
  services: readonly NamedService[],
): readonly Finding[] {
  if (config === undefined || (config.spec.mode ?? "OFF") === "OFF") {
    const why = config === undefined ? "there is no ClusterRbacConfig" : `${keyText(config.origin.key)} is OFF`;
    return [info([], `RBAC is off, since ${why}: the role has no effect`, "write an AuthorizationPolicy")];
  }
  const patterns = rules.flatMap((rule) => rule.services);
  const about = services.filter((service) => matchesAny(service.hostname, patterns));
  const governed = about.filter((service) => isEnforced(config.spec, service));
  const names = governed.map(({ hostname }) => hostname).sort();
  const granted = enforced.length + permissive.length > 0;
  return [
    ...unknownServices(role.spec.rules, services, role.meta.namespace),
    ...(governed.length === 0 && about.length > 0
      ? [info([], "RBAC governs none of the services that the role is about, so it has no effect")]
      : []),
    ...(governed.length > 0 && granted
      ? [
          info(
            [],
            `is served as ALLOW rules (AuthorizationPolicy service-role-${role.meta.name}) on the ports of ${listed(names)}`,
            "write an AuthorizationPolicy with the labels of the workloads as selector",
            "legacy-policy-converted",
          ),
        ]
      : []),
  ];
}

function unknownServices(
  rules: BoundRole["role"]["spec"]["rules"],
  services: readonly NamedService[],
  namespace: string,
): readonly Finding[] {
  return rules.flatMap((rule, index) =>
    (rule.services ?? []).flatMap((pattern, at) =>
      services.some(({ hostname }) => matchesPattern(hostname, pattern))
        ? []
        : [
            warning(
              ["spec", "rules", index, "services", at],
              `no service of ${namespace} is called ${pattern}`,
              "write the full host name of a service of the role's namespace, or a pattern for some",
              "legacy-service-unknown",
            ),
          ],
    ),
  );
}

/**
 * @param services those of the policy's namespace; for a MeshPolicy none are asked for
 * @param older policies that may hold on other ports of the same workloads
 */
export function authenticationFindings(
  policy: Policy,
  services: readonly Service[],
  older: readonly Policy[],
  domain: string,
): readonly Finding[] {
  const { targets = [] } = policy.spec;
  return [
    info(
      [],
      `is served as ${conversion(policy)}${targets.length === 0 ? "" : `, on the ports of ${listed(targets.map(({ name }) => name))}`}; a newer policy of the same sort that applies to a workload wins there`,
      "write these kinds instead",
      "legacy-policy-converted",
    ),
    ...targets.flatMap((target, at) =>
      targetFindings(target, ["spec", "targets", at], services, policy.meta.namespace, domain),
    ),
    ...peerFindings(policy.spec),
    ...tokenFindings(policy, older),
  ];
}

function conversion(policy: Policy): string {
  const tokens = tokensOf(policy.spec);
  const optional =
    policy.spec.originIsOptional === true ? "" : ", and an AuthorizationPolicy (DENY) for requests without one";
  return [
    `a PeerAuthentication (${mutualTlsMode(policy)})`,
    ...(tokens.length === 0
      ? []
      : [`a RequestAuthentication (${listed(tokens.map(({ issuer }) => issuer))})${optional}`]),
  ].join(", ");
}

function targetFindings(
  target: TargetSelector,
  path: Path,
  services: readonly Service[],
  namespace: string,
  domain: string,
): readonly Finding[] {
  const host = targetHost(target, namespace, domain);
  const service = services.find(({ hostname }) => hostname === host);
  const unread = (["subset", "labels"] as const).filter((field) => target[field] !== undefined);
  const narrowing = unread.map((field) =>
    warning(
      [...path, field],
      "no release of Istio read it: the policy holds for the whole service",
      "write a PeerAuthentication or RequestAuthentication with a selector",
      "no-effect",
    ),
  );
  if (service === undefined) {
    const hint = `targets are named by short names of services of ${namespace}`;
    return [...narrowing, warning([...path, "name"], `there is no service ${host}`, hint, "legacy-service-unknown")];
  }
  const unknownPorts = (target.ports ?? []).flatMap((port, at) =>
    service.ports.some((of) => isPort(port, of))
      ? []
      : [
          warning(
            [...path, "ports", at],
            `${host} has no port ${port.number ?? port.name}`,
            "name a port of the service, not of the workload",
            "legacy-service-unknown",
          ),
        ],
  );
  return [
    ...narrowing,
    ...unknownPorts,
    ...(service.attributes.selector === undefined ? [withoutSelector(host, path)] : []),
  ];
}

function withoutSelector(host: string, path: Path): Finding {
  return warning(
    [...path, "name"],
    `${host} has no selector, so clients do not know what its workloads take: they go by the policy of the namespace`,
    "give the service a selector, or write a PeerAuthentication for the workloads",
    "legacy-service-without-selector",
  );
}

function peerFindings({ peers = [], peerIsOptional }: AuthenticationPolicy): readonly Finding[] {
  const at = peers.findIndex(({ mtls }) => mtls !== undefined);
  const mtls = peers[at]?.mtls;
  if (mtls === undefined || mtls.mode === "PERMISSIVE") return [];
  const refused = "mutual TLS is asked for all the same, as the listeners of Istio did";
  const hint = "write mode: PERMISSIVE to take plain text as well";
  return [
    ...(peerIsOptional === true ? [warning(["spec", "peerIsOptional"], refused, hint, "no-effect")] : []),
    ...(mtls.allowTls === true ? [warning(["spec", "peers", at, "mtls", "allowTls"], refused, hint, "no-effect")] : []),
  ];
}

function tokenFindings({ spec }: Policy, older: readonly Policy[]): readonly Finding[] {
  const tokens = tokensOf(spec);
  const optional = tokens.length > 0 && spec.originIsOptional === true;
  return [
    ...(optional
      ? [
          info(
            ["spec", "originIsOptional"],
            "requests without a token pass; a token that is not good is refused now, wherever it is sent",
          ),
        ]
      : []),
    ...tokens.flatMap(({ jwt, issuer, path }) => [
      ...(isPlainIssuer(issuer) ? [] : [unplainIssuer(path)]),
      ...differentMeaning(issuer, meaningOf(jwt), path, older),
      ...triggerFindings(jwt, path),
    ]),
    ...differentTriggers(spec),
  ];
}

function unplainIssuer(path: Path): Finding {
  return warning(
    [...path, "issuer"],
    "an issuer that begins or ends with * would be read as a pattern, so its tokens are refused",
    "write a RequestAuthentication",
    "legacy-not-expressible",
  );
}

function differentMeaning(issuer: string, meaning: string, path: Path, older: readonly Policy[]): readonly Finding[] {
  const other = older.find((policy) =>
    tokensOf(policy.spec).some((token) => token.issuer === issuer && meaningOf(token.jwt) !== meaning),
  );
  if (other === undefined) return [];
  return [
    warning(
      path,
      `${keyText(other.origin.key)} takes other tokens of ${issuer}: a workload on whose ports both hold refuses the issuer on those of this policy`,
      "give both policies the same keys, audiences and places",
      "legacy-not-expressible",
    ),
  ];
}

function differentTriggers({ origins = [] }: AuthenticationPolicy): readonly Finding[] {
  const texts = new Set(
    origins.flatMap(({ jwt }) => (jwt?.triggerRules === undefined ? [] : [JSON.stringify(jwt.triggerRules)])),
  );
  if (texts.size < 2) return [];
  return [
    warning(
      ["spec", "origins"],
      "on the paths of one origin's triggerRules no token of an origin with others is taken",
      "give all origins of the policy the same triggerRules",
      "legacy-not-expressible",
    ),
  ];
}

/** The first few of some names. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
