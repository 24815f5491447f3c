import { error, type Finding, type Path, warning } from "../../finding.ts";
import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  Sidecar,
  SidecarPort,
} from "../../kinds/sidecar.ts";
import { lengthRules, maxEgressListeners } from "../expansion.ts";
import { isFqdn, isUnixAddress } from "../names.ts";
import { isHttpProtocol, isKnownProtocol, isTlsProtocol } from "../protocols.ts";
import { destinationRules } from "../routes/route-destination.ts";
import { labelsSelectorRules } from "../selectors.ts";
import { serverTlsRules } from "../tls/server-tls.ts";
import { connectionPoolRules } from "../traffic/traffic-policy.ts";
import { dnsLabelRules, duplicates, each, ipRules, portRules } from "../values.ts";
import { gatewayHostRules } from "./gateway.ts";

/** @see docs/how-istio-does-it/kind-rules.md#sidecar */
export function* sidecarRules(spec: Sidecar): Generator<Finding> {
  const selector = [...labelsSelectorRules(spec.workloadSelector, ["workloadSelector"])];
  yield* selector;
  if (selector.some((finding) => finding.severity === "error")) return;
  const { ingress, egress, outboundTrafficPolicy, inboundConnectionPool } = spec;
  if ([ingress, egress, outboundTrafficPolicy, inboundConnectionPool].every((part) => part === undefined)) {
    yield error([], "is empty", "give at least one of egress, ingress and outboundTrafficPolicy", "missing-field");
    return;
  }
  yield* lengthRules(egress, maxEgressListeners, ["egress"]);
  yield* each(ingress, ["ingress"], ingressRules);
  for (const [index, number] of duplicates((ingress ?? []).map((listener) => listener.port.number))) {
    yield error(["ingress", index, "port", "number"], `port ${number} is given twice`);
  }
  yield* connectionPoolRules(inboundConnectionPool, ["inboundConnectionPool"]);
  yield* egressListRules(egress ?? []);
  yield* outboundPolicyRules(outboundTrafficPolicy, ["outboundTrafficPolicy"]);
}

function* ingressRules(listener: IstioIngressListener, path: Path): Generator<Finding> {
  const { port, bind, defaultEndpoint, tls, connectionPool } = listener;
  yield* sidecarPortRules(port, [...path, "port"], true);
  if (bind !== undefined) yield* ipRules(bind, [...path, "bind"]);
  if (defaultEndpoint !== undefined) yield* defaultEndpointRules(defaultEndpoint, [...path, "defaultEndpoint"]);
  const { protocol = "" } = port;
  if (tls !== undefined) {
    const at = [...path, "tls"];
    for (const name of [
      "subjectAltNames",
      "httpsRedirect",
      "credentialName",
      "credentialNames",
      "tlsCertificates",
    ] as const) {
      if (tls[name] !== undefined) yield error([...at, name], "is not supported by Sidecar listeners");
    }
    if (tls.mode === "ISTIO_MUTUAL" || tls.mode === "AUTO_PASSTHROUGH") {
      yield error([...at, "mode"], `${tls.mode} is not allowed here`, "use SIMPLE or MUTUAL");
    }
    if (!isTlsProtocol(protocol)) yield error(at, "needs a port of protocol HTTPS or TLS", "", "conflicting-fields");
    yield* serverTlsRules(tls, at);
  }
  yield* connectionPoolRules(connectionPool, [...path, "connectionPool"]);
  if (connectionPool?.http !== undefined && !isHttpProtocol(protocol)) {
    yield warning([...path, "connectionPool", "http"], `has no effect on a port of protocol ${protocol}`);
  }
}

function* sidecarPortRules(port: SidecarPort, path: Path, needsRange: boolean): Generator<Finding> {
  if (port.targetPort !== undefined) yield error([...path, "targetPort"], "is not supported", "leave it out");
  if (port.name !== undefined) yield* dnsLabelRules(port.name, [...path, "name"]);
  if (port.protocol !== undefined && !isKnownProtocol(port.protocol)) {
    yield error([...path, "protocol"], `${JSON.stringify(port.protocol)} is not a protocol`);
  }
  if (needsRange) yield* portRules(port.number ?? 0, [...path, "number"]);
}

const ownAddresses: ReadonlySet<string> = new Set(["", "127.0.0.1", "0.0.0.0", "[::1]", "[::]", "::1", "::"]);

function* defaultEndpointRules(endpoint: string, path: Path): Generator<Finding> {
  if (endpoint.startsWith("unix://")) {
    if (!isUnixAddress(endpoint.slice("unix://".length)))
      yield error(path, `${JSON.stringify(endpoint)} is no path of a socket`);
    return;
  }
  const colon = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, Math.max(colon, 0));
  const port = Number(endpoint.slice(colon + 1));
  if (colon < 0 || !ownAddresses.has(host)) {
    const hint = "write 127.0.0.1:port, 0.0.0.0:port, [::1]:port, :port or unix://path";
    yield error(path, `${JSON.stringify(endpoint)} is no address of the workload itself`, hint);
  } else if (!Number.isInteger(port)) yield error(path, `${JSON.stringify(endpoint)} has no number of a port`);
  else yield* portRules(port, path);
}

function* egressListRules(listeners: readonly IstioEgressListener[]): Generator<Finding> {
  const catchAll = listeners.findIndex((listener) => listener.port === undefined);
  if (catchAll >= 0 && catchAll !== listeners.length - 1) {
    const hint = "the listener without port comes last, and there is one of them";
    yield error(["egress", catchAll], "a listener without port takes everything after it", hint);
  }
  const taken = new Set<string>();
  for (const [index, listener] of listeners.entries()) {
    const path = ["egress", index];
    yield* egressRules(listener, path);
    if (listener.port === undefined) continue;
    const number = listener.port.number ?? 0;
    const key = number === 0 ? (listener.bind ?? "") : String(number);
    if (taken.has(key)) {
      yield error([...path, "port"], number === 0 ? `${key} is bound twice` : `port ${number} is given twice`);
    }
    taken.add(key);
  }
}

function* egressRules(listener: IstioEgressListener, path: Path): Generator<Finding> {
  const { port, bind, captureMode = "DEFAULT", hosts } = listener;
  if (port !== undefined) {
    const number = port.number ?? 0;
    yield* sidecarPortRules(port, [...path, "port"], number !== 0);
    if (number === 0) {
      const valid = bind?.startsWith("unix://") && isUnixAddress(bind.slice("unix://".length));
      if (!valid) yield error([...path, "bind"], "port 0 needs a unix socket to bind to", "write unix:///path");
      if (captureMode === "IPTABLES") yield error([...path, "captureMode"], "a unix socket cannot be captured");
    } else if (bind !== undefined) yield* ipRules(bind, [...path, "bind"]);
  } else if (bind !== undefined && !bind.startsWith("unix://")) yield* ipRules(bind, [...path, "bind"]);
  if (hosts.length === 0) yield error([...path, "hosts"], "needs at least one host", "", "missing-field");
  yield* each(hosts, [...path, "hosts"], egressHostRules);
  yield* importRules(hosts, [...path, "hosts"]);
}

function* egressHostRules(host: string, path: Path): Generator<Finding> {
  const [namespace = "", name = "", ...rest] = host.split("/");
  if (rest.length > 0 || namespace === "" || name === "") {
    yield error(
      path,
      `${JSON.stringify(host)} is not of the form namespace/host`,
      'such as "./*" or "*/a.example.com"',
    );
    return;
  }
  const plain = namespace.startsWith("~") ? namespace.slice(1) : namespace;
  if (plain !== "" && plain !== "*" && plain !== ".") yield* dnsLabelRules(plain, path);
  yield* gatewayHostRules(name, path, false);
}

/** Imports that others make needless. */
function* importRules(hosts: readonly string[], path: Path): Generator<Finding> {
  for (const [index, host] of duplicates(hosts))
    yield warning([...path, index], `${JSON.stringify(host)} is given twice`);
  if (hosts.includes("*/*") && hosts.length > 1 && !hosts.some((host) => host.startsWith("~"))) {
    yield warning(path, '"*/*" imports everything', "the other hosts are needless");
    return;
  }
  const all = new Set(hosts);
  for (const [index, host] of hosts.entries()) {
    const namespace = host.split("/")[0] ?? "";
    if (host !== `${namespace}/*` && all.has(`${namespace}/*`)) {
      yield warning([...path, index], `${JSON.stringify(host)} is imported by "${namespace}/*" already`);
    }
  }
}

function* outboundPolicyRules(policy: OutboundTrafficPolicy | undefined, path: Path): Generator<Finding> {
  if (policy === undefined) return;
  const { mode = "REGISTRY_ONLY", egressProxy } = policy;
  if (mode === "ALLOW_ANY_DYNAMIC_DNS") yield error([...path, "mode"], `${mode} is for the mesh only`);
  if (egressProxy === undefined) return;
  const at = [...path, "egressProxy"];
  if (mode !== "ALLOW_ANY") yield error(at, "needs mode ALLOW_ANY", "", "conflicting-fields");
  if (!isFqdn(egressProxy.host))
    yield error([...at, "host"], `${JSON.stringify(egressProxy.host)} is not a domain name`);
  if (egressProxy.port === undefined) yield error([...at, "port"], "is required", "", "missing-field");
  yield* destinationRules(egressProxy, at);
}
