import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { Mesh } from "../mesh.ts";
import { textOf } from "../proxy/node-metadata.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";

/** Annotation of a pod that names its service. */
const serviceNameAnnotation = "resource.opentelemetry.io/service.name";

/** Labels of a workload that name its service, the first that is there. */
const serviceNameLabels = ["app.kubernetes.io/instance", "app.kubernetes.io/name"] as const;

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
 * @see istio 1.30.3 pilot/pkg/networking/core/tracing.go, otelServiceName
 */
export function conventionalName(mesh: Pick<Mesh, "form">, node: ProxyAnswers): string {
  // Asked one after the other: what stands behind the first that is there does not matter.
  return (
    node.annotation(serviceNameAnnotation) ||
    serviceNameLabels.reduce((found, key) => found || (node.label(key) ?? ""), "") ||
    textOf(node.metadata("WORKLOAD_NAME")) ||
    (mesh.form.podAsServiceName ? node.name : node.label("service.istio.io/canonical-name")) ||
    "unknown_service"
  );
}
