import type { Diagnostic } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { at } from "../../config/finding.ts";
import type { AuthenticationPolicy } from "../../config/kinds/legacy/authentication-policy.ts";
import type { Service } from "../../registry/service.ts";
import { groupBy } from "../group-by.ts";
import type { BoundRole } from "./bound-roles.ts";
import { authenticationFindings, namedService, roleFindings } from "./legacy-findings.ts";
import { type ChosenRbacConfig, rbacConfigFindings, shadowedFinding } from "./rbac-config.ts";

/** The old kinds of a mesh, as far as they say something. */
export interface LegacyObjects extends ChosenRbacConfig {
  /** Oldest first. */
  readonly policies: readonly Config<AuthenticationPolicy>[];
  readonly meshPolicy: Config<AuthenticationPolicy> | undefined;
  readonly roles: readonly BoundRole[];
}

/** What there is to say about the objects, given the services of the mesh. */
export function diagnoseLegacyPolicies(
  { policies, meshPolicy, roles, chosen, shadowed }: LegacyObjects,
  services: readonly Service[],
  domain: string,
): readonly Diagnostic[] {
  const servicesIn = groupBy(services, ({ attributes }) => attributes.namespace);
  const namedIn = new Map([...servicesIn].map(([namespace, own]) => [namespace, own.map(namedService)]));
  const policiesIn = groupBy(policies, ({ meta }) => meta.namespace);
  const everywhere = meshPolicy === undefined ? [] : [meshPolicy];
  return [
    ...[...policiesIn].flatMap(([namespace, own]) =>
      own.flatMap((policy, position) => {
        const others = [...everywhere, ...own.slice(0, position)];
        const findings = authenticationFindings(policy, servicesIn.get(namespace) ?? [], others, domain);
        return findings.map((finding) => at(policy.origin, finding));
      }),
    ),
    ...everywhere.flatMap((policy) =>
      authenticationFindings(policy, [], [], domain).map((finding) => at(policy.origin, finding)),
    ),
    ...roles.flatMap((bound) => {
      const { meta, origin } = bound.role;
      return roleFindings(bound, chosen, namedIn.get(meta.namespace) ?? []).map((finding) => at(origin, finding));
    }),
    ...(chosen === undefined
      ? []
      : [
          ...rbacConfigFindings(chosen.spec, [...namedIn.values()].flat()).map((finding) => at(chosen.origin, finding)),
          ...shadowed.map((config) => at(config.origin, shadowedFinding(chosen))),
        ]),
  ];
}
