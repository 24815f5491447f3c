import type { Config } from "../../config/config.ts";
import type { KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import type { ListenerSource } from "./listeners/listener-source.ts";
import { type Problem, problem } from "./problem.ts";

/** What is wrong with the objects that a Gateway itself refers to; undefined: nothing. */
export interface GatewayReferences {
  readonly parameters: Problem | undefined;
  /** The certificate that it would show to backends. */
  readonly clientCertificate: Problem | undefined;
}

export const gatewayReferences = (config: Config<KubernetesGateway>, source: ListenerSource): GatewayReferences => ({
  parameters: parametersProblem(config, source),
  clientCertificate: clientCertificateProblem(config, source),
});

/** @see istio 1.31.0 pilot/pkg/config/kube/gateway/gateway_collection.go, validateParametersRef */
function parametersProblem({ meta, spec }: Config<KubernetesGateway>, source: ListenerSource): Problem | undefined {
  const ref = spec.infrastructure?.parametersRef;
  if (ref === undefined) return undefined;
  const { group, kind, name } = ref;
  if (group !== "" || kind !== "ConfigMap") {
    const message = `Unsupported parametersRef group/kind ${group}/${kind}, only ConfigMap is supported`;
    return problem("InvalidParameters", message);
  }
  if (source.hasConfigMap(meta.namespace, name)) return undefined;
  return problem("InvalidParameters", `parametersRef ConfigMap ${meta.namespace}/${name} does not exist`);
}

/** @see istio 1.31.0 pilot/pkg/config/kube/gateway/conversion.go, validateBackendClientCertificateRef */
function clientCertificateProblem(
  { meta, spec }: Config<KubernetesGateway>,
  source: ListenerSource,
): Problem | undefined {
  const ref = spec.tls?.backend?.clientCertificateRef;
  if (ref === undefined) return undefined;
  const { group, kind, name, namespace = meta.namespace } = ref;
  const wrong = (what: string): Problem =>
    problem(
      "InvalidClientCertificateRef",
      `invalid clientCertificateRef ${group}/${kind}/${name}.${ref.namespace ?? ""}, ${what}`,
    );
  if (group !== "" || kind !== "Secret") return wrong("only secret is allowed");
  const found = source.keyPairProblem(namespace, name);
  if (found === "not found") return wrong(`secret ${namespace}/${name} not found`);
  if (found !== "") return wrong(found);
  if (namespace === meta.namespace || source.isGranted(meta.kind, meta.namespace, "", "Secret", namespace, name)) {
    return undefined;
  }
  const message = `clientCertificateRef ${name}/${namespace} not accessible to a Gateway in namespace "${meta.namespace}" (missing a ReferenceGrant?)`;
  return problem("RefNotPermitted", message);
}
