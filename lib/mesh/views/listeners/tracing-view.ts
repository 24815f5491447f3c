import { internValue } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import type { Mesh } from "../../mesh.ts";
import { textOf } from "../../proxy/node-metadata.ts";
import { conventionalName, namesByConvention } from "../conventional-name.ts";
import type { ProxyAnswers } from "../proxies/proxy-answers.ts";
import type { TracingView, WorkloadPolicies } from "../views.ts";

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
export function tracingViewOf(
  mesh: Pick<Mesh, "config" | "form">,
  node: ProxyAnswers,
  telemetry: WorkloadPolicies["telemetry"],
  memo: Memo,
): TracingView {
  const traced = traces(mesh, node, telemetry);
  if (!traced && !(mesh.form.tagsWithoutTracer && mesh.config.enableTracing)) return noTracing;
  return internValue(memo, {
    canonicalName: node.label("service.istio.io/canonical-name") ?? "",
    canonicalRevision: node.label("service.istio.io/canonical-revision") ?? "",
    clusterId: node.clusterId,
    conventionalName: traced && namesByConvention(mesh.config) ? conventionalName(mesh, node) : "",
    meshId: textOf(node.metadata("MESH_ID")),
    namespace: node.namespace,
    nodeCluster: traced ? node.nodeCluster : "",
  });
}

/** Can any span be sent: is there a provider by Telemetry, by default, or in the proxy's own settings? */
function traces(
  mesh: Pick<Mesh, "config" | "form">,
  node: ProxyAnswers,
  telemetry: WorkloadPolicies["telemetry"],
): boolean {
  return (
    (mesh.config.defaultProviders.tracing ?? []).length > 0 ||
    telemetry.some(({ spec }) => spec.tracing !== undefined) ||
    node.proxyConfig("tracing") !== undefined
  );
}
