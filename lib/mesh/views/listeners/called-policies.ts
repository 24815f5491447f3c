import type { Config } from "../../../config/config.ts";
import type { AuthorizationPolicy } from "../../../config/kinds/authorization-policy.ts";
import { internList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { isDynamicWildcard, type Service } from "../../../registry/service.ts";
import type { Mesh } from "../../mesh.ts";
import type { SidecarScope } from "../../scope/sidecar-scope.ts";
import { objectNames } from "../object-names.ts";
import type { TrackedWorkload } from "../proxies/tracked-workload.ts";
import { type InputNames, itself, viewKey } from "../view-key.ts";
import type { View } from "../views.ts";

/** Policies that stand in the workload's own way out: in front of hosts that are resolved at run time, nowhere else. */
export interface CalledPolicies extends View {
  /** Whether there are such hosts in scope: the workload's own policies count for them too. */
  readonly any: boolean;
  /** Those of other namespaces that such hosts are of. */
  readonly byNamespace: ReadonlyMap<string, readonly Config<AuthorizationPolicy>[]>;
}

export function selectCalledPolicies(
  mesh: Mesh,
  workload: () => TrackedWorkload,
  scope: SidecarScope,
  memo: Memo,
): CalledPolicies {
  // Not the services of the scope, which are one for each host: several on one host may all have listeners.
  const namespaces = [
    ...new Set(scope.egressListeners.flatMap(({ services }) => namespacesOfDynamicHosts(memo, { services }))),
  ];
  if (namespaces.length === 0) return noneCalled;
  const others = namespaces.filter((other) => other !== scope.namespace && other !== mesh.config.rootNamespace);
  const policiesIn = (calledNamespace: string): readonly Config<AuthorizationPolicy>[] =>
    internList(memo, mesh.policies(workload().calling(calledNamespace)).authorization);
  return calledPolicies(memo, {
    any: true,
    namespaces: others,
    policies: internList(memo, others.map(policiesIn)),
  });
}

interface CalledInputs {
  readonly any: boolean;
  readonly namespaces: readonly string[];
  readonly policies: readonly (readonly Config<AuthorizationPolicy>[])[];
}

const calledNames: InputNames<CalledInputs> = {
  any: itself,
  namespaces: itself,
  policies: (lists) => lists.map(objectNames),
};

const calledOf = (inputs: CalledInputs): CalledPolicies => ({
  key: viewKey(calledNames, inputs),
  any: inputs.any,
  byNamespace: new Map(inputs.namespaces.map((namespace, at) => [namespace, inputs.policies[at] ?? []])),
});

const calledPolicies = query("called policies", { namespaces: "value" }, calledOf);

const noneCalled = calledOf({ any: false, namespaces: [], policies: [] });

/** Namespaces of services that are resolved at run time. */
const namespacesOfDynamicHosts = query(
  "namespaces of dynamic hosts",
  ({ services }: { readonly services: readonly Service[] }) => {
    const dynamic = services.filter(isDynamicWildcard);
    return [...new Set(dynamic.map(({ attributes }) => attributes.namespace))];
  },
);
