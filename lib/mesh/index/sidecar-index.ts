import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { closesNamespace } from "../../config/fail-closed/closed-object.ts";
import type { Sidecar } from "../../config/kinds/sidecar.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import { query } from "../../incremental/query.ts";
import { groupBy } from "../group-by.ts";

/** Which Sidecar a workload has. @see docs/how-istio-does-it/sidecar-scopes.md#which-sidecar */
export interface SidecarIndex {
  /** undefined: none, everything visible is imported. A Sidecar of the root namespace acts as one of the workload's own. */
  sidecarFor(namespace: string, labels: Labels): Config<Sidecar> | undefined;
  /** The Sidecars that can apply in a namespace, most preferred first. */
  candidates(namespace: string): readonly Config<Sidecar>[];
}

/** The index, remembered. */
export const sidecarIndex = query(
  "sidecar index",
  ({ configs, rootNamespace }: { readonly configs: readonly Config<Sidecar>[]; readonly rootNamespace: string }) =>
    indexSidecars(configs, rootNamespace),
);

/**
 * @param configs oldest first. A stand-in for a refused Sidecar of which nobody knows what it selects goes before all others of its
 *   namespace
 */
export function indexSidecars(configs: readonly Config<Sidecar>[], rootNamespace: string): Stage<SidecarIndex> {
  const closing = configs.filter(closesNamespace);
  const selecting = configs.filter(hasSelector);
  const general = configs.filter((config) => !hasSelector(config) && !closesNamespace(config));
  const byNamespace = groupBy([...closing, ...selecting, ...general], (config) => config.meta.namespace);
  const root = [...closing, ...general].find((config) => config.meta.namespace === rootNamespace);
  const candidates = (namespace: string): readonly Config<Sidecar>[] => {
    const own = byNamespace.get(namespace) ?? [];
    return root === undefined || namespace === rootNamespace ? own : [...own, root];
  };
  return {
    value: {
      candidates,
      sidecarFor: (namespace, labels) =>
        candidates(namespace).find((config) => isSubset(config.spec.workloadSelector?.labels ?? {}, labels)),
    },
    diagnostics: shadowed(general),
  };
}

const hasSelector = (config: Config<Sidecar>): boolean => config.spec.workloadSelector !== undefined;

/** Sidecars without selector behind an older one of their namespace: they apply to nobody. */
function shadowed(general: readonly Config<Sidecar>[]): readonly Diagnostic[] {
  const first = new Map<string, Config<Sidecar>>();
  return general.flatMap((config): readonly Diagnostic[] => {
    const older = first.get(config.meta.namespace);
    if (older === undefined) {
      first.set(config.meta.namespace, config);
      return [];
    }
    return [
      {
        code: "sidecar-shadowed",
        severity: "warning",
        origin: config.origin,
        path: ["spec"],
        message: `Sidecar ${older.meta.namespace}/${older.meta.name} is older and has no workloadSelector either: this one applies to nothing`,
        hint: "give one of them a workloadSelector, or merge them",
      },
    ];
  });
}
