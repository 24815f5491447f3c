import type { Workload } from "../../registry/service.ts";

/** Annotation that names the templates which a pod is injected with. */
const templatesAnnotation = "inject.istio.io/templates";

/** Names of the templates that a workload asks for. */
export function templatesOf({ annotations }: Pick<Workload, "annotations">): readonly string[] {
  return (annotations[templatesAnnotation] ?? "").split(",").map((name) => name.trim());
}

/**
 * Istio's templates for gRPC programs that speak xDS themselves, with an agent for certificates beside them and without.
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/grpc-agent.yaml
 */
const proxylessTemplates = ["grpc-agent", "grpc-simple"];

/** Whether injection would leave a workload without Envoy, its program being its own proxy. */
export function isProxyless(workload: Pick<Workload, "annotations">): boolean {
  if (workload.annotations[templatesAnnotation] === undefined) return false;
  return templatesOf(workload).some((name) => proxylessTemplates.includes(name));
}
