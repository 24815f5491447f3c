import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import type { ClassProxy, OutboundClusterView } from "../../mesh/views/views.ts";

/** What every cluster of a class is made from: one object for all classes that are alike in it. */
export interface ClusterClass {
  readonly mesh: MeshSettings;
  readonly ipMode: ClassProxy["ipMode"];
  readonly preserveHeaderCase: boolean;
  readonly build: ClassProxy["build"];
  readonly clientFiles: Readonly<Record<string, string>>;
}

const clusterClass = query("cluster class", { clientFiles: "value" }, (inputs: ClusterClass) => inputs);

export function clusterClassOf({ proxy, endpoints, tlsClientFiles }: OutboundClusterView, memo: Memo): ClusterClass {
  return clusterClass(memo, {
    mesh: endpoints.lookups.mesh,
    ipMode: proxy.ipMode,
    preserveHeaderCase: proxy.proxyConfig.proxyHeaders?.preserveHttp1HeaderCase === true,
    build: proxy.build,
    clientFiles: tlsClientFiles,
  });
}
