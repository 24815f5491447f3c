import type { Memo } from "../../mesh/memo/memo.ts";
import type { ClassProxy, ClusterView, MeshLookups } from "../../mesh/views/views.ts";
import { type AssignmentContext, perspectiveText } from "../endpoints/load-assignment.ts";
import { createLocalityPool } from "../endpoints/locality-group.ts";
import { indexGateways } from "../endpoints/network-gateways.ts";

/** Everything but services and rules that the clusters of a class are made from. */
export interface ClusterClass {
  readonly type: ClassProxy["type"];
  readonly ipMode: ClassProxy["ipMode"];
  readonly preserveHeaderCase: boolean;
  readonly clientFiles: Readonly<Record<string, string>>;
  readonly lookups: MeshLookups;
  /** For DNS clusters, which carry their endpoints. */
  readonly endpoints: AssignmentContext;
  /** Stands for all of the above among memo keys, without and with what only clusters with endpoints read. */
  readonly key: object;
  readonly keyWithEndpoints: object;
}

export function clusterClassOf(view: ClusterView, memo: Memo): ClusterClass {
  const { proxy, lookups, perspective, tlsClientFiles } = view;
  const { networkGateways } = lookups;
  const preserveHeaderCase = proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true;
  // DNS clusters can reach a gateway by its name.
  const gateways = memo([networkGateways], "gateways by name", () => indexGateways(networkGateways, true));
  const text = `${proxy.type}|${proxy.ipMode}|${preserveHeaderCase}|${JSON.stringify(tlsClientFiles)}`;
  const key = memo([lookups.mesh], `cluster class|${text}`, () => ({}));
  return {
    type: proxy.type,
    ipMode: proxy.ipMode,
    preserveHeaderCase,
    clientFiles: tlsClientFiles,
    lookups,
    endpoints: { perspective, lookups, gateways, localityOf: createLocalityPool() },
    key,
    keyWithEndpoints: memo([key, lookups.authentication, gateways], perspectiveText(perspective), () => ({})),
  };
}
