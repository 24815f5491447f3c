import type { Config } from "../../config/config.ts";
import type { KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import { type Problem, problem } from "./problem.ts";

const nameOverride = "gateway.istio.io/name-override";
const accountOverride = "gateway.istio.io/service-account";
const serviceTypeAnnotation = "networking.istio.io/service-type";

/** Whether a controller deploys the gateway, or it stands for services that are there. */
function isDeployed({ addresses = [] }: KubernetesGateway): boolean {
  return addresses.length === 0 || (addresses.length === 1 && addresses[0]?.type === "IPAddress");
}

/** Name of the Deployment and the Service of a Gateway that a controller deploys. */
function deployedName({ meta, spec }: Config<KubernetesGateway>): string {
  return meta.annotations[nameOverride] || `${meta.name}-${spec.gatewayClassName}`;
}

export interface GatewayServices {
  /** Host names of the services in front of the gateway's workloads. */
  readonly hosts: readonly string[];
  /** Of workloads that a controller deploys; undefined: they are there. */
  readonly serviceAccount: string | undefined;
  readonly problem: Problem | undefined;
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, extractGatewayServices */
export function gatewayServices(gateway: Config<KubernetesGateway>): GatewayServices {
  const { meta, spec } = gateway;
  const { namespace, domain, annotations } = meta;
  if (isDeployed(spec)) {
    const name = deployedName(gateway);
    const serviceAccount = annotations[accountOverride] || name;
    return { hosts: [`${name}.${namespace}.svc.${domain}`], serviceAccount, problem: undefined };
  }
  const addresses = spec.addresses ?? [];
  const hosts = addresses
    .filter(({ type }) => type === "Hostname")
    .map(({ value = "" }) => (value.includes(".") ? value : `${value}.${namespace}.svc.${domain}`));
  const skipped = addresses.filter(({ type }) => type !== "Hostname").map(({ value = "" }) => value);
  if (skipped.length > 0) {
    const message = `only Hostname is supported, ignoring [${skipped.join(" ")}]`;
    return { hosts, serviceAccount: undefined, problem: problem("UnsupportedAddress", message) };
  }
  if (annotations[serviceTypeAnnotation] !== undefined) {
    const message = `annotation ${serviceTypeAnnotation} is deprecated, use Spec.Infrastructure.Routeability`;
    return { hosts, serviceAccount: undefined, problem: problem("DeprecatedField", message) };
  }
  return { hosts, serviceAccount: undefined, problem: undefined };
}
