import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { fieldsOf, listIn, memberOf, stringsOf } from "../../base/untyped.ts";
import type { NodeResources } from "../../trace/node-resources.ts";
import type { RootObject, RootObjects } from "../../xds/explain/root-object.ts";

/** The port of a workload behind a port of its Service. */
export interface ServicePort {
  /** `Service/shop/gateway`. */
  readonly service: string;
  /** Where it stands, `gateway.yaml:3`. */
  readonly at: string;
  readonly port: number;
  readonly targetPort: number;
}

/**
 * Which port of a workload a client reaches that asks a Service of it: of several that have the port, the one that the URL's host names, else
 * the first by name.
 *
 * @param node `pod.namespace`; nothing is known of others
 * @returns undefined where the proxy listens on the port itself, or no Service leads from it elsewhere
 */
export function servicePort(
  objects: RootObjects,
  { listeners }: NodeResources,
  node: string,
  { host, port }: { readonly host: string; readonly port: number },
): ServicePort | undefined {
  if (listeners.some((listener) => isTaken(listener, port))) return undefined;
  const dot = node.lastIndexOf(".");
  const [name, namespace] = [node.slice(0, dot), node.slice(dot + 1)];
  const near = objects.all.filter((one) => one.namespace === namespace);
  const workload = near.find((one) => one.name === name && labelsOf(one) !== undefined);
  if (workload === undefined) return undefined;
  const found = near
    .flatMap((service): readonly ServicePort[] => {
      if (service.kind !== "Service" || !selects(service, labelsOf(workload) ?? {})) return [];
      const entry = listIn(service.spec, "ports").find((one) => memberOf(one, "port") === port);
      const targetPort = entry === undefined ? undefined : targetOf(entry, port, workload);
      const at = objects.placeOf(service, []);
      return targetPort === undefined || targetPort === port ? [] : [{ service: service.key, at, port, targetPort }];
    })
    .sort((a, b) => byCodePoint(a.service, b.service));
  const isNamed = ({ service }: ServicePort) => {
    const own = service.split("/")[2] ?? "";
    return host === own || host === `${own}.${namespace}` || host.startsWith(`${own}.${namespace}.svc`);
  };
  return found.find(isNamed) ?? found[0];
}

/** A gateway is bound to it, or a sidecar has a chain for it. */
function isTaken({ address, additionalAddresses = [], filterChains = [] }: ListenerJson, port: number): boolean {
  const addresses = [address, ...additionalAddresses.map((one) => one.address)];
  return (
    addresses.some((one) => one?.socketAddress?.portValue === port) ||
    filterChains.some(({ filterChainMatch }) => filterChainMatch?.destinationPort === port)
  );
}

/** Of the workload that an object is, or makes; undefined for what is none. */
function labelsOf({ kind, labels, spec }: RootObject): Readonly<Record<string, string>> | undefined {
  if (kind === "Pod") return labels;
  if (kind === "WorkloadEntry") return { ...labels, ...stringsOf(memberOf(spec, "labels")) };
  const template = memberOf(spec, "template");
  return template === undefined ? undefined : stringsOf(memberOf(memberOf(template, "metadata"), "labels"));
}

function selects({ spec }: RootObject, labels: Readonly<Record<string, string>>): boolean {
  const selector = Object.entries(fieldsOf(memberOf(spec, "selector")));
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
}

/** @returns undefined for a name that none of the workload's containers has */
function targetOf(entry: unknown, port: number, { spec }: RootObject): number | undefined {
  const target = memberOf(entry, "targetPort") ?? port;
  if (typeof target === "number") return target;
  if (/^\d+$/.test(String(target))) return Number(target);
  const pod = memberOf(memberOf(spec, "template"), "spec") ?? spec;
  const ports = listIn(pod, "containers").flatMap((container) => listIn(container, "ports"));
  const named = ports.find((one) => memberOf(one, "name") === target);
  const number = memberOf(named, "containerPort");
  return typeof number === "number" ? number : undefined;
}
