import type { Memo } from "../../mesh/memo.ts";
import type { ClassProxy, ClusterView, MeshLookups } from "../../mesh/views.ts";
import type { AssignmentContext } from "../endpoints/load-assignment.ts";
import { createLocalityPool } from "../endpoints/locality-group.ts";
import { indexGateways } from "../endpoints/network-gateways.ts";
import { perspectiveText } from "../endpoints/perspective-text.ts";

/** Everything but services and rules that the clusters of a class are made from. */
export interface ClusterClass {
  readonly type: ClassProxy["type"];
  readonly ipMode: ClassProxy["ipMode"];
  readonly preserveHeaderCase: boolean;
  readonly clientFiles: Readonly<Record<string, string>>;
  readonly lookups: MeshLookups;
  /** For DNS clusters, which carry their endpoints. */
  readonly endpoints: AssignmentContext;
  /** Stands for the mesh-wide inputs of such clusters among memo keys. */
  readonly endpointInputs: object;
  /** Plain values of the above as text, without and with the perspective. */
  readonly text: string;
  readonly textWithPerspective: string;
}

export function clusterClassOf(view: ClusterView, memo: Memo): ClusterClass {
  const { proxy, lookups, perspective, tlsClientFiles } = view;
  const { networkGateways } = lookups;
  const preserveHeaderCase = proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true;
  // DNS clusters can reach a gateway by its name.
  const gateways = memo([networkGateways], "gateways by name", () => indexGateways(networkGateways, true));
  const text = `${proxy.type}|${proxy.ipMode}|${preserveHeaderCase}|${JSON.stringify(tlsClientFiles)}`;
  return {
    type: proxy.type,
    ipMode: proxy.ipMode,
    preserveHeaderCase,
    clientFiles: tlsClientFiles,
    lookups,
    endpoints: { perspective, lookups, gateways, localityOf: createLocalityPool() },
    endpointInputs: memo([lookups.mesh, lookups.authentication, gateways], "DNS cluster inputs", () => ({})),
    text,
    textWithPerspective: `${text}|${perspectiveText(perspective)}`,
  };
}
