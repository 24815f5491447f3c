import type { Stage } from "../base/diagnostic.ts";
import type { Config } from "../config/config.ts";
import { at, info } from "../config/finding.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { ProxyConfigResource } from "../config/kinds/proxy-config.ts";
import type { WorkloadGroup } from "../config/kinds/workload-group.ts";
import { isIpAddress } from "../config/values/ip-address.ts";
import { mappedList } from "../incremental/mapped-list.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { SelectedWorkloads } from "../mesh/gateway-api/gateway-workloads.ts";
import { configsByKind } from "../mesh/index/configs-by-kind.ts";
import { type GroupSettings, readGroup } from "../mesh/proxy/machine-start.ts";
import { proxyOfWorkload, type WorkloadProxy } from "../mesh/proxy/proxy-of-workload.ts";
import { layersFor, type ProxyConfigObjects, proxyConfigObjects } from "../mesh/proxy/proxy-settings.ts";
import { type GatewaySelection, type ProxyTypes, proxyTypes } from "../mesh/proxy/proxy-type.ts";
import type { World } from "../mesh/world.ts";
import { tlsModeLabel } from "../registry/labels.ts";
import type { Workload } from "../registry/service.ts";
import { groupAnnotation } from "../registry/service-entry/workload.ts";

export interface WorkloadProxyInputs extends Pick<World, "configs" | "meshConfig" | "domain"> {
  /** Those that are gateways because of the Gateway API; absent: none. */
  readonly gatewayWorkloads?: readonly SelectedWorkloads[] | undefined;
}

/**
 * The proxies that a world is compiled for: one for each workload that says it has one, with the node that its Envoy sends.
 * Workloads that are what they were are not asked again.
 *
 * @returns in the order of the workloads
 */
export function workloadProxies(
  workloads: readonly Workload[],
  { configs, meshConfig, domain, gatewayWorkloads = noWorkloads }: WorkloadProxyInputs,
  memo: Memo,
): Stage<readonly WorkloadProxy[]> {
  const of = configsByKind(configs, memo);
  const types = typesIn(memo, {
    gateways: of("Gateway"),
    hasIngresses: of("Ingress").length > 0,
    workloads: gatewayWorkloads,
    meshConfig,
  });
  const objects = objectsIn(memo, { proxyConfigs: of("ProxyConfig") });
  const groups = groupsIn(memo, { groups: of("WorkloadGroup") });
  const context = { types, objects: objects.value, groups: groups.value, meshConfig, domain };
  const found = foundFor(memo, { workloads, ...context });
  return joined(memo, { found, objects, groups });
}

const noWorkloads: readonly SelectedWorkloads[] = [];

const typesIn = query(
  "types of workloads' proxies",
  (selection: GatewaySelection): ProxyTypes => proxyTypes(selection),
);

const objectsIn = query(
  "ProxyConfig objects by namespace",
  ({ proxyConfigs }: { readonly proxyConfigs: readonly Config<ProxyConfigResource>[] }) =>
    proxyConfigObjects(proxyConfigs),
);

/** By `namespace/name`. */
type Groups = ReadonlyMap<string, GroupSettings>;

const groupsIn = query(
  "settings of all workload groups",
  ({ groups }: { readonly groups: readonly Config<WorkloadGroup>[] }, memo: Memo): Stage<Groups> => {
    const read = groups.map((group) => readGroup(memo, { group }));
    return {
      value: new Map(read.map(({ value }) => [`${value.group.meta.namespace}/${value.group.meta.name}`, value])),
      diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    };
  },
);

/** What the proxy of any workload may depend on. */
interface WorkloadProxyContext {
  readonly types: ProxyTypes;
  readonly objects: ProxyConfigObjects;
  readonly groups: Groups;
  readonly meshConfig: MeshConfig;
  readonly domain: string;
}

/** What a workload's proxy comes to; undefined for a workload without one. */
type Found = Stage<WorkloadProxy | undefined> | undefined;

const eachWorkload = mappedList(
  "proxies of workloads",
  (workload: Workload, _nothing: undefined, context: WorkloadProxyContext, memo: Memo): Found => {
    const { types, objects, groups, meshConfig, domain } = context;
    const type = types(workload);
    if (type === undefined) return withoutProxy(workload);
    const { namespace, labels, annotations } = workload;
    const layers = layersFor(objects, meshConfig.rootNamespace, namespace, labels);
    return proxyOfWorkload(memo, {
      workload,
      type,
      meshConfig,
      domain,
      meshObject: layers.mesh,
      namespaceObject: layers.namespace,
      ownObject: layers.workload,
      group: groups.get(`${namespace}/${annotations[groupAnnotation]}`),
    });
  },
);

const foundFor = query(
  "proxies of all workloads",
  ({ workloads, ...context }: WorkloadProxyContext & { readonly workloads: readonly Workload[] }, memo: Memo) =>
    eachWorkload(memo, "", workloads, context, () => undefined),
);

/** A machine that nobody says has a proxy is served as plain as it is, which may not be what was meant. */
function withoutProxy({ kind, labels, addresses, origin }: Workload): Found {
  if (kind !== "WorkloadEntry" || labels[tlsModeLabel] !== undefined || !addresses.some(isIpAddress)) return undefined;
  const message = "has no proxy: no container or annotation shows that one runs beside it";
  const hint =
    "if one does, set spec.serviceAccount; `portolan bootstrap NAME.NAMESPACE` then prints what it is started with";
  return { value: undefined, diagnostics: [at(origin, info([], message, hint, "workload-entry-without-proxy"))] };
}

interface Parts {
  readonly found: readonly Found[];
  readonly objects: Stage<ProxyConfigObjects>;
  readonly groups: Stage<Groups>;
}

const joined = query(
  "census",
  ({ found, objects, groups }: Parts): Stage<readonly WorkloadProxy[]> => ({
    value: found.flatMap((proxy) => proxy?.value ?? []),
    diagnostics: [objects, groups, ...found].flatMap((stage) => stage?.diagnostics ?? []),
  }),
);
