import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { buildIn, buildMember } from "../../base/proxy-build.ts";
import type { Config } from "../../config/config.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { ProxyConfigResource } from "../../config/kinds/proxy-config.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Workload } from "../../registry/service.ts";
import { nodeOfStart, type WorkloadNode } from "./agent-node.ts";
import { isInjected, startOfContainer } from "./container-start.ts";
import { startAsInjected } from "./injected-start.ts";
import { type GroupSettings, startOfMachine } from "./machine-start.ts";
import type { Proxy } from "./proxy.ts";
import { type EnvoyNode, proxyOf } from "./proxy-from-node.ts";
import type { ProxyStart } from "./proxy-start.ts";
import { type AnnotatedSettings, readAnnotations } from "./workload-annotations.ts";

/** What a proxy is made from. */
export interface ProxySources {
  readonly workload: Workload;
  readonly type: ProxyStart["type"];
  readonly meshConfig: MeshConfig;
  /** Domain suffix of services, `cluster.local`. */
  readonly domain: string;
  /** ProxyConfig objects for the workload, as in `ProxyConfigLayers`. */
  readonly meshObject: Config<ProxyConfigResource> | undefined;
  readonly namespaceObject: Config<ProxyConfigResource> | undefined;
  readonly ownObject: Config<ProxyConfigResource> | undefined;
  /** Undefined for a pod, and for an entry without a group. */
  readonly group: GroupSettings | undefined;
}

/** A workload's proxy as the compiler sees it, and the node that its Envoy sends: one is made from the other. */
export interface WorkloadProxy extends WorkloadNode {
  readonly proxy: Proxy;
}

/**
 * The proxy of a workload, as Istio's injector and agent make it. A pod's own `istio-proxy` container is the truth; of a pod
 * without one the injector's rules are followed, of a WorkloadEntry those of istioctl.
 *
 * @returns undefined for a workload whose node cannot be one; diagnostics of what cannot be read, at the workload
 */
export const proxyOfWorkload = query(
  "proxy of a workload",
  (sources: ProxySources, memo: Memo): Stage<WorkloadProxy | undefined> => {
    const { workload, meshConfig } = sources;
    const annotations = readAnnotations(workload);
    const start = startOf(sources, annotations.value, memo);
    const made = nodeOfStart(start.value, workload, annotations.value, memo);
    const { node, settings } = made.value;
    const known = { ...workload, labels: start.value.labels };
    const proxy = proxyOf(withBuild(node, start.value), { workload: () => known }, meshConfig, settings);
    const diagnostics: readonly Diagnostic[] = [annotations, start, made, proxy].flatMap((stage) => stage.diagnostics);
    return { value: proxy.value === undefined ? undefined : { node, settings, proxy: proxy.value }, diagnostics };
  },
);

/**
 * The node with what its container says of its build. No bootstrap has it: whoever starts another Envoy there would be taken for Istio's
 * own where no front sees its extensions.
 */
function withBuild(node: EnvoyNode, { build }: ProxyStart): EnvoyNode {
  const { metadata = {} } = node;
  if (build === undefined || buildIn(metadata) !== undefined) return node;
  return { ...node, metadata: { ...metadata, [buildMember]: build } };
}

function startOf(sources: ProxySources, annotations: AnnotatedSettings, memo: Memo): Stage<ProxyStart> {
  const { workload, type, meshConfig, domain, meshObject, namespaceObject, ownObject } = sources;
  const container = workload.pod?.proxyContainer;
  if (container !== undefined && isInjected(container)) return startOfContainer(workload, container, type);
  const layers = { mesh: meshObject, namespace: namespaceObject, workload: ownObject };
  const value =
    workload.kind === "WorkloadEntry"
      ? startOfMachine(workload, type, annotations, sources)
      : startAsInjected(workload, type, annotations, { meshConfig, domain, layers }, memo);
  return { value, diagnostics: [] };
}
