import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { at, info, warning } from "../../config/finding.ts";
import type { ServiceRole, ServiceRoleBinding } from "../../config/kinds/legacy/service-role.ts";
import { groupBy } from "../group-by.ts";
import { type ConvertedAccess, convertAccess, destinationReads } from "./access-rule.ts";
import { type ConvertedSubject, convertSubject } from "./subject.ts";

/** A ServiceRole, and whom its namespace's bindings give it to. */
export interface BoundRole {
  readonly role: Config<ServiceRole>;
  readonly rules: readonly ConvertedAccess[];
  readonly enforced: readonly ConvertedSubject[];
  /** Of bindings that are only tried out. */
  readonly permissive: readonly ConvertedSubject[];
}

/** The roles of one namespace. They are about its services only. */
export interface NamespaceRoles {
  readonly roles: readonly BoundRole[];
  /** What constraints read of workloads. */
  readonly labels: readonly string[];
  readonly serviceAccount: boolean;
}

export const noRoles: NamespaceRoles = { roles: [], labels: [], serviceAccount: false };

/**
 * Roles and bindings of one namespace, converted once. What cannot be converted is left out, with a diagnostic.
 *
 * @param roles, bindings oldest first
 */
export function bindRoles(
  roles: readonly Config<ServiceRole>[],
  bindings: readonly Config<ServiceRoleBinding>[],
): Stage<NamespaceRoles> {
  const diagnostics: Diagnostic[] = [];
  const byRole = groupBy(bindings, ({ spec }) => spec.roleRef?.name ?? "");
  const names = new Set(roles.map(({ meta }) => meta.name));
  for (const binding of bindings) if (!names.has(binding.spec.roleRef?.name ?? "")) diagnostics.push(unbound(binding));
  const bound = roles.map((role): BoundRole => {
    const own = byRole.get(role.meta.name) ?? [];
    const rules = role.spec.rules.flatMap((rule, index) => {
      const { value, findings } = convertAccess(rule, ["spec", "rules", index]);
      diagnostics.push(...findings.map((finding) => at(role.origin, finding)));
      return value ?? [];
    });
    if (own.length === 0) diagnostics.push(ungranted(role));
    const subjectsOf = (permissive: boolean) =>
      own
        .filter(({ spec }) => (spec.mode === "PERMISSIVE") === permissive)
        .flatMap((binding) => subjectsIn(binding, diagnostics));
    return { role, rules, enforced: subjectsOf(false), permissive: subjectsOf(true) };
  });
  const reads = bound.flatMap(({ rules }) => rules.map(destinationReads));
  return {
    value: {
      roles: bound,
      labels: [...new Set(reads.flatMap(({ labels }) => labels))].sort(),
      serviceAccount: reads.some(({ serviceAccount }) => serviceAccount),
    },
    diagnostics,
  };
}

function subjectsIn(binding: Config<ServiceRoleBinding>, diagnostics: Diagnostic[]): readonly ConvertedSubject[] {
  return binding.spec.subjects.flatMap((subject, index) => {
    const { value, findings } = convertSubject(subject, ["spec", "subjects", index]);
    diagnostics.push(...findings.map((finding) => at(binding.origin, finding)));
    return value ?? [];
  });
}

function unbound(binding: Config<ServiceRoleBinding>): Diagnostic {
  const { namespace } = binding.meta;
  const finding = warning(
    ["spec", "roleRef", "name"],
    `there is no ServiceRole ${binding.spec.roleRef?.name ?? ""} in ${namespace}, so no access is granted`,
    "put the ServiceRole and its ServiceRoleBinding into the namespace of the services",
    "legacy-role-unknown",
  );
  return at(binding.origin, finding);
}

function ungranted(role: Config<ServiceRole>): Diagnostic {
  return at(
    role.origin,
    info([], "no ServiceRoleBinding of its namespace names the role, so it grants no access", "remove it"),
  );
}
