import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { step } from "../../mesh/memo/step.ts";
import type { ClassProxy, OutboundClusterView } from "../../mesh/views/views.ts";

/** What every cluster of a class is made from: one object for all classes that are alike in it. */
export interface ClusterClass {
  readonly mesh: MeshConfig;
  readonly ipMode: ClassProxy["ipMode"];
  readonly preserveHeaderCase: boolean;
  readonly clientFiles: Readonly<Record<string, string>>;
}

const clusterClass = step(
  "cluster class",
  { mesh: "identity", ipMode: "value", preserveHeaderCase: "value", clientFiles: "value" },
  (inputs: ClusterClass) => inputs,
);

export function clusterClassOf({ proxy, endpoints, tlsClientFiles }: OutboundClusterView, memo: Memo): ClusterClass {
  return clusterClass(memo, {
    mesh: endpoints.lookups.mesh,
    ipMode: proxy.ipMode,
    preserveHeaderCase: proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true,
    clientFiles: tlsClientFiles,
  });
}
