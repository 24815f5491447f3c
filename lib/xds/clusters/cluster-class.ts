import type { Memo } from "../../mesh/memo.ts";
import type { ClassProxy, ClusterView, EndpointPerspective, MeshLookups } from "../../mesh/views.ts";
import { type GatewayIndex, indexGateways } from "../endpoints/network-gateways.ts";
import { perspectiveText } from "../endpoints/perspective-text.ts";

/** Everything but services and rules that the clusters of a class are made from. */
export interface ClusterClass {
  readonly type: ClassProxy["type"];
  readonly ipMode: ClassProxy["ipMode"];
  readonly preserveHeaderCase: boolean;
  readonly clientFiles: Readonly<Record<string, string>>;
  readonly lookups: MeshLookups;
  /** For DNS clusters, which carry their endpoints. */
  readonly perspective: EndpointPerspective;
  readonly gateways: GatewayIndex;
  /** Plain values of the above as text, without and with the perspective. */
  readonly text: string;
  readonly textWithPerspective: string;
}

export function clusterClassOf(view: ClusterView, memo: Memo): ClusterClass {
  const { proxy, lookups, perspective, tlsClientFiles } = view;
  const preserveHeaderCase = proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true;
  const text = `${proxy.type}|${proxy.ipMode}|${preserveHeaderCase}|${JSON.stringify(tlsClientFiles)}`;
  return {
    type: proxy.type,
    ipMode: proxy.ipMode,
    preserveHeaderCase,
    clientFiles: tlsClientFiles,
    lookups,
    perspective,
    gateways: memo([lookups.networkGateways], "gateways|names", () => indexGateways(lookups.networkGateways, true)),
    text,
    textWithPerspective: `${text}|${perspectiveText(perspective)}`,
  };
}
