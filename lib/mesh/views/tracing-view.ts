import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { conventionalName, namesByConvention } from "./conventional-name.ts";
import type { TracingView, WorkloadPolicies } from "./views.ts";

const noTracing: TracingView = {
  canonicalName: "",
  canonicalRevision: "",
  meshId: "",
  namespace: "",
  clusterId: "",
  nodeCluster: "",
  conventionalName: "",
};

/**
 * What tracing tags say about a proxy. Istio writes them even where nothing is traced, which tells apart every
 * canonical service; the shared form leaves them empty without a tracer.
 */
export function tracingViewOf(mesh: Mesh, proxy: Proxy, policies: WorkloadPolicies): TracingView {
  const traced = traces(mesh, proxy, policies);
  if (!traced && (mesh.compat === "shared" || !mesh.config.enableTracing)) return noTracing;
  return {
    canonicalName: proxy.labels["service.istio.io/canonical-name"] ?? "",
    canonicalRevision: proxy.labels["service.istio.io/canonical-revision"] ?? "",
    meshId: proxy.metadata.meshId,
    namespace: proxy.namespace,
    clusterId: proxy.clusterId,
    nodeCluster: traced ? proxy.nodeCluster : "",
    conventionalName: traced && namesByConvention(mesh.config) ? conventionalName(mesh, proxy) : "",
  };
}

/** Can any span be sent: is there a provider by Telemetry, by default, or in the proxy's own settings? */
function traces(mesh: Mesh, proxy: Proxy, policies: WorkloadPolicies): boolean {
  return (
    (mesh.config.defaultProviders.tracing ?? []).length > 0 ||
    policies.telemetry.some((telemetry) => telemetry.spec.tracing !== undefined) ||
    proxy.metadata.proxyConfig.tracing !== undefined
  );
}
