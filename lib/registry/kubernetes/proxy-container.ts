import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import type { ProxyContainer } from "../service.ts";
import { type EnvironmentSource, environmentOf, expand } from "./environment.ts";

const proxyContainerName = "istio-proxy";

type Fields = Readonly<Record<string, unknown>>;

/** Variables that Istio's agent makes a node of; the rest of the environment is its own business. */
const agentVariables = new Set([
  "PROXY_CONFIG",
  "POD_NAME",
  "POD_NAMESPACE",
  "SERVICE_ACCOUNT",
  "ISTIO_CPU_LIMIT",
  "ENVOY_STATUS_PORT",
  "ENVOY_PROMETHEUS_PORT",
  "EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
]);

const isAgentVariable = (name: string): boolean =>
  agentVariables.has(name) || name.startsWith("ISTIO_META_") || name.startsWith("ISTIO_METAJSON_");

/**
 * The container that sidecar injection left in a pod, that a gateway's template wrote, or that somebody wrote for injection to
 * fill in: among the containers, or as a native sidecar among the init containers.
 */
export function proxyContainerOf(
  spec: Fields,
  source: Omit<EnvironmentSource, "container">,
): ProxyContainer | undefined {
  for (const list of ["containers", "initContainers"]) {
    const containers = listOf(spec[list]).map(fieldsOf);
    const at = containers.findIndex(({ name }) => name === proxyContainerName);
    const container = containers[at];
    if (container === undefined) continue;
    const { values, elsewhere } = environmentOf({ ...source, container });
    return {
      path: ["spec", list, at],
      image: textOf(container.image),
      args: listOf(container.args).map((argument) => expand(textOf(argument), values)),
      environment: Object.fromEntries([...values].filter(([name]) => isAgentVariable(name))),
      elsewhere: elsewhere.filter(isAgentVariable),
    };
  }
  return undefined;
}

/** Names of the containers that are not the proxy's, in their order. */
export function appContainersOf(spec: Fields): readonly string[] {
  const names = listOf(spec.containers).map((container) => textOf(fieldsOf(container).name));
  // As long as it is: a list that grows, as that of `filter` does, keeps room for seventeen.
  return names.includes(proxyContainerName) ? names.filter((name) => name !== proxyContainerName).slice() : names;
}
