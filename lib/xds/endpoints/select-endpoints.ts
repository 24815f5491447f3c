import { isSubset } from "../../config/values/labels.ts";
import type { EndpointPerspective } from "../../mesh/views/views.ts";
import { keepsDraining } from "../../registry/labels.ts";
import type { Endpoint, Service, ServicePort } from "../../registry/service.ts";
import { isDraining } from "./lb-endpoint.ts";

/** Which endpoints of a service one load assignment is made from. */
export interface EndpointSelection {
  readonly service: Service;
  readonly port: ServicePort;
  /** Labels of the subset; undefined or empty: all. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly clusterLocal: boolean;
  /** Also those that are not ready. */
  readonly unhealthyToo: boolean;
  /** DNS clusters only: elsewhere a name is no address. */
  readonly hostnames: boolean;
}

/** Whether an endpoint is behind a service port: by number where the registry knows it, else by name. */
function backs(endpoint: Endpoint, port: ServicePort): boolean {
  return endpoint.servicePortNumber === undefined
    ? endpoint.servicePortName === port.name
    : endpoint.servicePortNumber === port.port;
}

const dot = ".".charCodeAt(0);
const digitZero = "0".charCodeAt(0);
const digitNine = "9".charCodeAt(0);

/** Tells an address from a host name; both were checked where they came in. */
function looksLikeIp(text: string): boolean {
  if (text.includes(":")) return true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== dot && (code < digitZero || code > digitNine)) return false;
  }
  return text !== "";
}

/** Whether the proxy asked to see the network: none asked for means all, and no network is always visible. */
function seesNetwork(perspective: EndpointPerspective, network: string): boolean {
  return network === "" || perspective.networkView.length === 0 || perspective.networkView.includes(network);
}

/** One network, as far as anybody knows. */
export function inNetwork(perspective: EndpointPerspective, network: string): boolean {
  return network === "" || perspective.network === "" || perspective.network === network;
}

/**
 * Tells what a proxy may be sent: endpoints of the port and subset, in networks and clusters that it sees, ready unless
 * the service wants the others too, never terminating.
 *
 * @param multiNetwork some network has a gateway, so an endpoint without an address can still be reached
 * @see docs/how-istio-does-it/endpoints.md#load-assignment
 * @see docs/how-istio-does-it/endpoints.md#which-endpoints
 */
export function selects(
  selection: EndpointSelection,
  perspective: EndpointPerspective,
  multiNetwork: boolean,
): (endpoint: Endpoint) => boolean {
  const { service, port, labels, clusterLocal, unhealthyToo, hostnames } = selection;
  const drainingToo = keepsDraining(service.attributes.labels);
  const { nodeLocal } = service.attributes;
  return (endpoint) => {
    if (!backs(endpoint, port)) return false;
    if (labels !== undefined && !isSubset(labels, endpoint.labels)) return false;
    const address = endpoint.addresses[0] ?? "";
    if (!hostnames && address !== "" && endpoint.port !== 0 && !looksLikeIp(address)) return false;
    if (nodeLocal && endpoint.nodeName !== perspective.nodeName) return false;
    if (!seesNetwork(perspective, endpoint.network)) return false;
    if ((clusterLocal || nodeLocal) && endpoint.locality.clusterId !== perspective.clusterId) return false;
    if (address === "" && endpoint.unixPath === "" && (!multiNetwork || inNetwork(perspective, endpoint.network))) {
      return false;
    }
    if (endpoint.health === "Unhealthy" && !unhealthyToo) return false;
    if (endpoint.health === "Terminating") return false;
    return drainingToo || !isDraining(endpoint);
  };
}
