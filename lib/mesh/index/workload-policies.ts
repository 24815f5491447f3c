import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { byAge, type Config } from "../../config/config.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import type { RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import type { PolicyTarget } from "../../config/kinds/selector.ts";
import type { Telemetry } from "../../config/kinds/telemetry.ts";
import type { TrafficExtension, WasmPlugin } from "../../config/kinds/wasm-plugin.ts";
import { query } from "../../incremental/query.ts";
import { groupBy } from "../group-by.ts";
import type { WorkloadPolicies } from "../views/views.ts";
import { attaches, type PolicyWorkload } from "./policy-attachment.ts";

/**
 * Chooses the policies of a workload.
 * @see docs/how-istio-does-it/security.md#what-a-policy-attaches-to
 * @see docs/how-istio-does-it/telemetry.md#which-objects
 * @see docs/how-istio-does-it/extensions.md#which-extensions
 */
export type PolicyIndex = (workload: PolicyWorkload) => WorkloadPolicies;

/** All policies of the mesh, each kind oldest first. */
export interface PolicySources {
  readonly authorization: readonly Config<AuthorizationPolicy>[];
  readonly requestAuthentication: readonly Config<RequestAuthentication>[];
  readonly telemetry: readonly Config<Telemetry>[];
  readonly wasmPlugins: readonly Config<WasmPlugin>[];
  readonly trafficExtensions: readonly Config<TrafficExtension>[];
}

type Grouped<Spec> = ReadonlyMap<string, readonly Config<Spec>[]>;

/** The index, remembered. */
export const policyIndex = query("policy index", (sources: PolicySources) => indexPolicies(sources));

export function indexPolicies(sources: PolicySources): Stage<PolicyIndex> {
  const byNamespace = <Spec>(configs: readonly Config<Spec>[]): Grouped<Spec> =>
    groupBy(configs, (config) => config.meta.namespace);
  const authorization = byNamespace(sources.authorization);
  const requestAuthentication = byNamespace(sources.requestAuthentication);
  const telemetry = byNamespace(sources.telemetry);
  const wasmPlugins = byNamespace(sources.wasmPlugins);
  const trafficExtensions = byNamespace(sources.trafficExtensions);
  const index: PolicyIndex = (workload) => ({
    authorization: authorizing(workload).flatMap((of) => attachedOf(authorization, of, workload)),
    requestAuthentication: ownFirst(workload).flatMap((of) => attachedOf(requestAuthentication, of, workload)),
    telemetry: telemetryOf(telemetry, workload),
    wasmPlugins: byPriority(ownFirst(workload).flatMap((of) => attachedOf(wasmPlugins, of, workload))),
    trafficExtensions: byPriority(ownFirst(workload).flatMap((of) => attachedOf(trafficExtensions, of, workload))),
  });
  return { value: index, diagnostics: shadowedTelemetry(telemetry) };
}

const rootFirst = ({ namespace, rootNamespace }: PolicyWorkload): readonly string[] => [
  ...new Set([rootNamespace, namespace]),
];

/** The policies of a service come last. */
const authorizing = (workload: PolicyWorkload): readonly string[] => [
  ...new Set([...rootFirst(workload), workload.calledNamespace ?? workload.namespace]),
];

const ownFirst = ({ namespace, rootNamespace }: PolicyWorkload): readonly string[] => [
  ...new Set([namespace, rootNamespace]),
];

function attachedOf<Spec extends PolicyTarget>(
  byNamespace: Grouped<Spec>,
  namespace: string,
  workload: PolicyWorkload,
): readonly Config<Spec>[] {
  return (byNamespace.get(namespace) ?? []).filter((policy) => attaches(policy, selectorOf, workload));
}

const selectorOf = (spec: PolicyTarget) => spec.selector?.matchLabels;

const isGeneral = ({ spec }: Config<PolicyTarget>): boolean =>
  Object.keys(spec.selector?.matchLabels ?? {}).length === 0 &&
  spec.targetRef === undefined &&
  (spec.targetRefs ?? []).length === 0;

/** Mesh-wide, namespace-wide, then all that select the workload; the oldest of the first two kinds. */
function telemetryOf(byNamespace: Grouped<Telemetry>, workload: PolicyWorkload): readonly Config<Telemetry>[] {
  const general = rootFirst(workload).flatMap((of) => byNamespace.get(of)?.find(isGeneral) ?? []);
  const selecting = attachedOf(byNamespace, workload.namespace, workload).filter((config) => !isGeneral(config));
  return [...general, ...selecting];
}

/** Highest priority first, none given last; equal ones keep their order. */
function byPriority<Spec extends { readonly priority?: number }>(
  configs: readonly Config<Spec>[],
): readonly Config<Spec>[] {
  const priority = (config: Config<Spec>): number => config.spec.priority ?? Number.NEGATIVE_INFINITY;
  return [...configs].sort((a, b) => (priority(a) === priority(b) ? 0 : priority(b) - priority(a)));
}

function shadowedTelemetry(byNamespace: Grouped<Telemetry>): readonly Diagnostic[] {
  return [...byNamespace.values()].flatMap((configs) => {
    const [first, ...others] = configs.filter(isGeneral).sort(byAge);
    return others.map(
      (config): Diagnostic => ({
        code: "telemetry-shadowed",
        severity: "warning",
        origin: config.origin,
        path: [],
        message: `ignored: ${first?.meta.namespace}/${first?.meta.name} is the oldest Telemetry without selector in its namespace`,
        hint: "keep one per namespace, or give this one a selector",
      }),
    );
  });
}
