/** WorkloadEntries of machines that have registered themselves, with what their WorkloadGroups say of them. */

import type { Diagnostic } from "../base/diagnostic.ts";
import { type Config, keyOf } from "../config/config.ts";
import { registeredByAnnotation, type WorkloadEntry } from "../config/kinds/workload-entry.ts";
import type { WorkloadGroup } from "../config/kinds/workload-group.ts";
import { keepList } from "../incremental/keep-identity.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { configsByKind, isOfKind } from "../mesh/index/configs-by-kind.ts";
import { groupAnnotation, healthChecksAnnotation } from "../registry/service-entry/workload.ts";

/**
 * The objects of a world, with registered entries made whole. One whose group is not there, or is of another service account than the
 * machine has proven, is left out.
 *
 * @see istio 1.30.3 pilot/pkg/autoregistration/controller.go
 */
export function withRegistered(
  configs: readonly Config[],
  memo: Memo,
): { readonly configs: readonly Config[]; readonly diagnostics: readonly Diagnostic[] } {
  const isRegistered = ({ meta }: Config) => meta.annotations[registeredByAnnotation] !== undefined;
  const entries = configsByKind(configs, memo)("WorkloadEntry").filter(isRegistered);
  if (entries.length === 0) return { configs, diagnostics: [] };
  const groups = new Map(
    configsByKind(configs, memo)("WorkloadGroup").map((group) => [`${group.meta.namespace}/${group.meta.name}`, group]),
  );
  const diagnostics: Diagnostic[] = [];
  const changed = configs.flatMap((config): readonly Config[] => {
    if (!isOfKind(config, "WorkloadEntry") || !isRegistered(config)) return [config];
    const { annotations, namespace } = config.meta;
    const name = annotations[groupAnnotation] ?? "";
    const proven = annotations[registeredByAnnotation] ?? "";
    const group = groups.get(`${namespace}/${name}`);
    if (group !== undefined && accountOf(group) === proven) return [made(memo, { entry: config, group })];
    diagnostics.push(refused(config, name, proven, group));
    return [];
  });
  return { configs: keepList(memo, "objects with registered entries", changed), diagnostics };
}

/** A group that names no service account is for that of Kubernetes' usual name. */
export const accountOf = ({ spec }: { readonly spec: Pick<WorkloadGroup, "template"> }): string =>
  spec.template.serviceAccount || "default";

/** What a WorkloadGroup says of each of its machines. */
export function entryOfGroup({ template, metadata, probe }: WorkloadGroup, address: string) {
  const labels = { ...template.labels, ...metadata?.labels };
  const checked = probe === undefined ? {} : { [healthChecksAnnotation]: "true" };
  return { labels, annotations: { ...metadata?.annotations, ...checked }, spec: { ...template, labels, address } };
}

const made = query(
  "registered entry",
  ({ entry, group }: { readonly entry: Config<WorkloadEntry>; readonly group: Config<WorkloadGroup> }): Config => {
    const { [registeredByAnnotation]: _, ...annotations } = entry.meta.annotations;
    const said = entryOfGroup(group.spec, entry.spec.address ?? "");
    return {
      ...entry,
      meta: { ...entry.meta, labels: said.labels, annotations: { ...said.annotations, ...annotations } },
      spec: said.spec,
      alsoMadeFrom: [keyOf(group)],
    };
  },
);

function refused(
  { origin, spec }: Config<WorkloadEntry>,
  name: string,
  proven: string,
  group: Config<WorkloadGroup> | undefined,
): Diagnostic {
  const isFor = group === undefined ? "" : accountOf(group);
  return {
    code: "registration-refused",
    severity: "warning",
    origin,
    path: ["metadata", "annotations", groupAnnotation],
    message:
      group === undefined
        ? `no WorkloadGroup ${JSON.stringify(name)} in ${origin.key.namespace}: the machine at ${spec.address} has no endpoint`
        : `WorkloadGroup ${name} is for the service account ${isFor}, and the machine at ${spec.address} has proven ${proven}: it has no endpoint`,
    hint:
      group === undefined
        ? "apply the WorkloadGroup, or correct AUTO_REGISTER_GROUP of the machine"
        : `give the machine a token of ${isFor}, or set template.serviceAccount of the WorkloadGroup`,
  };
}
