import { error, type Finding, type Path } from "../../finding.ts";
import { duplicates, each } from "../../rules/values.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import type { GatewayAddress, KubernetesGateway, Listener, ListenerSet } from "../gateway.ts";
import { filterRules } from "./filters.ts";

/** What the custom resource definition says of a Gateway beyond single fields. */
export function* kubernetesGatewayRules({
  listeners,
  addresses,
  infrastructure,
}: KubernetesGateway): Generator<Finding> {
  yield* listenerRules(listeners, ["listeners"]);
  yield* addressRules(addresses ?? []);
  for (const part of ["labels", "annotations"] as const) {
    for (const key of Object.keys(infrastructure?.[part] ?? {})) {
      if (isQualifiedName(key, 252)) continue;
      yield error(["infrastructure", part, key], `${JSON.stringify(key)} is no key of ${part}`);
    }
  }
}

export function listenerSetRules({ listeners }: ListenerSet): Iterable<Finding> {
  return listenerRules(listeners, ["listeners"]);
}

const qualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
/** Key of a label or an annotation, with a prefix of at most so many characters. */
export const isQualifiedName = (key: string, prefix: number): boolean =>
  qualifiedName.test(key) && key.lastIndexOf("/") <= prefix;

const domainPath = /^(?!(.*\.)?k8s\.io\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/.+$/;
const addressName = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function* addressRules(addresses: readonly GatewayAddress[]): Generator<Finding> {
  for (const [index, { type, value, routability = "" }] of addresses.entries()) {
    if (routability !== "" && routability !== "Cluster" && !domainPath.test(routability)) {
      const hint = "write Cluster, or a domain of your own with a path, example.com/private";
      yield error(["addresses", index, "routability"], `${JSON.stringify(routability)} is no routability`, hint);
    }
    if (type === "IPAddress" && value !== undefined && !isIpAddress(value)) {
      const hint = "write type: Hostname for the name of a Service";
      yield error(["addresses", index, "value"], `${JSON.stringify(value)} is no IP address`, hint);
    }
    if (type !== "Hostname" || value === undefined || addressName.test(value)) continue;
    yield error(["addresses", index, "value"], `${JSON.stringify(value)} is no host name`);
  }
  const identities = addresses.map(({ type, value }) => (value === undefined ? "" : `${type} ${value}`));
  for (const [index, identity] of duplicates(identities)) {
    if (/^(IPAddress|Hostname) /.test(identity)) yield error(["addresses", index], `${identity} is given twice`);
  }
}

const withoutTls: ReadonlySet<string> = new Set(["HTTP", "TCP", "UDP"]);
const withoutHost: ReadonlySet<string> = new Set(["TCP", "UDP"]);

function* listenerRules(listeners: readonly Listener[], path: Path): Generator<Finding> {
  yield* each(listeners, path, oneListenerRules);
  const places = listeners.map(
    ({ port, protocol, hostname = "" }) => `port ${port}, ${protocol}, host ${hostname || "*"}`,
  );
  for (const [index, place] of duplicates(places)) {
    yield error([...path, index], `${place}: another listener has these three`, "give each listener one of its own");
  }
}

function* oneListenerRules({ protocol, tls, hostname, filters }: Listener, path: Path): Generator<Finding> {
  if (filters !== undefined && protocol !== "HTTP" && protocol !== "HTTPS") {
    yield error([...path, "filters"], "is for listeners of HTTP and HTTPS alone", "", "conflicting-fields");
  }
  yield* filterRules(filters?.requests, [...path, "filters", "requests"]);
  if (withoutTls.has(protocol) && tls !== undefined) {
    yield error([...path, "tls"], `a listener of protocol ${protocol} has no TLS`, "", "conflicting-fields");
  }
  if (protocol === "HTTPS" && tls !== undefined && tls.mode !== "Terminate") {
    yield error([...path, "tls", "mode"], "must be Terminate for protocol HTTPS", "", "conflicting-fields");
  }
  if (protocol === "TLS" && tls === undefined) {
    yield error([...path, "tls"], "is required for protocol TLS", "", "missing-field");
  }
  if (withoutHost.has(protocol) && hostname !== undefined) {
    yield error([...path, "hostname"], `has no meaning for protocol ${protocol}`, "leave it out", "conflicting-fields");
  }
  const ends = tls?.mode === "Terminate";
  if (ends && (tls.certificateRefs ?? []).length === 0 && Object.keys(tls.options ?? {}).length === 0) {
    const hint = "name a Secret with a certificate";
    yield error([...path, "tls", "certificateRefs"], "is required where TLS is ended", hint, "missing-field");
  }
}
