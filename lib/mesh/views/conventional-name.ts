import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Mesh } from "../mesh.ts";
import { textMap } from "../proxy/node-metadata.ts";
import type { Proxy } from "../proxy/proxy.ts";

/** Annotation of a pod that names its service. */
export const serviceNameAnnotation = "resource.opentelemetry.io/service.name";

/** Labels of a workload that name its service, the first that is there. */
export const serviceNameLabels = ["app.kubernetes.io/instance", "app.kubernetes.io/name"] as const;

/** Does any provider name services by the conventions of OpenTelemetry? */
export function namesByConvention({ extensionProviders }: MeshConfig): boolean {
  return extensionProviders.some(
    ({ opentelemetry }) => opentelemetry?.serviceAttributeEnrichment === "OTEL_SEMANTIC_CONVENTIONS",
  );
}

/**
 * The name of a proxy's service by the conventions of OpenTelemetry for Kubernetes. Where nothing else names it Istio takes
 * the pod's name, which would make a class of every pod: the shared form takes the canonical name.
 *
 * @see Istio 1.30 `pilot/pkg/networking/core/tracing.go`, otelServiceName
 */
export function conventionalName(mesh: Mesh, { id, labels, metadata }: Proxy): string {
  const { WORKLOAD_NAME: workload } = metadata.raw;
  const named = [
    textMap(metadata.raw.ANNOTATIONS)[serviceNameAnnotation],
    ...serviceNameLabels.map((key) => labels[key]),
    typeof workload === "string" ? workload : "",
    mesh.compat === "istio" ? id.split(".")[0] : labels["service.istio.io/canonical-name"],
  ];
  return named.find((name) => name !== undefined && name !== "") ?? "unknown_service";
}
