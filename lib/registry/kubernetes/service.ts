import { fieldsOf, flagOf, listOf, numberOf, stringsOf, textOf } from "../../base/untyped.ts";
import { kubernetesPortProtocol } from "../protocol.ts";
import { type PortAuthentication, type Resolution, type Service, type ServicePort, spiffeUri } from "../service.ts";
import { trafficDistributionAnnotation, trafficDistributionOf } from "../traffic-distribution.ts";
import type { Node } from "./node.ts";
import { creationTimeMs, type KubernetesObject, objectNamespace } from "./object.ts";
import type { TargetPort } from "./pods/pod.ts";
import { type ClusterSettings, serviceHostname } from "./settings.ts";

/** A port of a Kubernetes service with what only its own cluster needs to know of it. */
export interface KubernetesServicePort extends ServicePort {
  readonly target: TargetPort;
  /** `TCP`, `UDP`, `SCTP`. */
  readonly transport: string;
}

/** A Service of one cluster: the model's service and its ports' targets. */
export interface KubernetesService {
  readonly object: KubernetesObject;
  readonly service: Service;
  readonly ports: readonly KubernetesServicePort[];
}

/** Stands for "no address" in the model. */
const noAddress = "0.0.0.0";

function portsOf(spec: Readonly<Record<string, unknown>>): readonly KubernetesServicePort[] {
  const ports: KubernetesServicePort[] = [];
  for (const entry of listOf(spec.ports)) {
    const { name, port, protocol, appProtocol, targetPort } = fieldsOf(entry);
    const number = numberOf(port);
    if (number === undefined) continue;
    const transport = textOf(protocol) || "TCP";
    const application = typeof appProtocol === "string" ? appProtocol : undefined;
    ports.push({
      name: textOf(name),
      port: number,
      protocol: kubernetesPortProtocol({ transport, name: textOf(name), appProtocol: application, port: number }),
      target: typeof targetPort === "number" || typeof targetPort === "string" ? targetPort : number,
      transport,
    });
  }
  return ports;
}

/** Items of a comma-separated annotation; undefined when there is none. */
function annotationList(annotations: Readonly<Record<string, string>>, name: string): readonly string[] | undefined {
  const value = annotations[name];
  return value === undefined || value === "" ? undefined : value.split(",");
}

/** Accounts of the two annotations, sorted; values are not trimmed. */
function accountsOf(
  annotations: Readonly<Record<string, string>>,
  namespace: string,
  trustDomain: string,
): readonly string[] {
  const canonical = annotationList(annotations, "alpha.istio.io/canonical-serviceaccounts") ?? [];
  const local = annotationList(annotations, "alpha.istio.io/kubernetes-serviceaccounts") ?? [];
  return [...canonical, ...local.map((account) => spiffeUri(trustDomain, namespace, account))].sort();
}

/** Addresses at which the service is reached from outside: of its load balancer, then `externalIPs`. */
function externalAddressesOf(object: KubernetesObject, spec: Readonly<Record<string, unknown>>): readonly string[] {
  const addresses: string[] = [];
  if (spec.type === "LoadBalancer") {
    for (const entry of listOf(fieldsOf(fieldsOf(object.status).loadBalancer).ingress)) {
      const { ip, hostname } = fieldsOf(entry);
      const address = textOf(ip) || textOf(hostname);
      if (address !== "") addresses.push(address);
    }
  }
  return [
    ...addresses,
    ...listOf(spec.externalIPs)
      .map(textOf)
      .filter((ip) => ip !== ""),
  ];
}

const nodeSelectorAnnotation = "traffic.istio.io/nodeSelector";

/** Selector of the nodes whose addresses a NodePort service is reached at; undefined for any other service. */
function nodeSelectorOf(object: KubernetesObject): Readonly<Record<string, string>> | undefined {
  const annotation = stringsOf(object.metadata.annotations)[nodeSelectorAnnotation];
  if (annotation === undefined || fieldsOf(object.spec).type !== "NodePort") return undefined;
  try {
    return stringsOf(JSON.parse(annotation));
  } catch {
    // What is not JSON selects no node, as in Istio: the service then has no address outside.
    return undefined;
  }
}

function nodePortsOf(spec: Readonly<Record<string, unknown>>): ReadonlyMap<number, number> {
  const ports = new Map<number, number>();
  for (const entry of listOf(spec.ports)) {
    const { port, nodePort } = fieldsOf(entry);
    const from = numberOf(port);
    const to = numberOf(nodePort);
    if (from !== undefined && to !== undefined) ports.set(from, to);
  }
  return ports;
}

function exportToOf(annotations: Readonly<Record<string, string>>): readonly string[] | undefined {
  return annotationList(annotations, "networking.istio.io/exportTo")?.map((item) => item.trim());
}

function addressesOf(spec: Readonly<Record<string, unknown>>): readonly string[] {
  const first = textOf(spec.clusterIP);
  if (first === "" || first === "None") return [noAddress];
  const all = listOf(spec.clusterIPs)
    .map(textOf)
    .filter((ip) => ip !== "");
  return all.length > 1 ? all : [first];
}

/** How the clients of a Service find its endpoints, as it is written. */
export function resolutionOf(object: KubernetesObject): Resolution {
  const spec = fieldsOf(object.spec);
  if (spec.type === "ExternalName" && textOf(spec.externalName) !== "") return "Alias";
  // An empty cluster IP is not headless: only the literal None is.
  return spec.clusterIP === "None" ? "Passthrough" : "ClientSideLB";
}

/** What the conversion of a Service reads beside the object. */
export interface ServiceContext {
  readonly settings: ClusterSettings;
  readonly namespaceAnnotations: Readonly<Record<string, string>>;
  readonly nodes: ReadonlyMap<string, Node>;
}

/**
 * The ports' own settings; other texts than the two mean that the mesh decides.
 * @see docs/how-istio-does-it/legacy-v1.md#tls-and-authentication
 */
function portAuthenticationOf(
  annotations: Readonly<Record<string, string>>,
  ports: readonly ServicePort[],
): ReadonlyMap<number, PortAuthentication> {
  return new Map(
    ports.flatMap(({ port }) => {
      const value = annotations[`auth.istio.io/${port}`];
      return value === "NONE" || value === "MUTUAL_TLS" ? [[port, value] as const] : [];
    }),
  );
}

/**
 * Converts a Service. UDP ports are kept: what has no use for them skips them.
 * @see docs/how-istio-does-it/kubernetes.md#services
 */
export function serviceOf(object: KubernetesObject, context: ServiceContext): KubernetesService {
  const { settings, nodes } = context;
  const spec = fieldsOf(object.spec);
  const annotations = stringsOf(object.metadata.annotations);
  const name = object.metadata.name;
  const namespace = objectNamespace(object);
  const resolution = resolutionOf(object);
  const addresses = addressesOf(spec);
  const ports = portsOf(spec);
  const nodeSelector = nodeSelectorOf(object);
  const external =
    nodeSelector === undefined
      ? externalAddressesOf(object, spec)
      : [...nodes.values()]
          .filter((node) => Object.entries(nodeSelector).every(([key, value]) => node.labels[key] === value))
          .flatMap((node) => node.externalAddresses)
          .sort();
  const selector = stringsOf(spec.selector);
  const portAuthentication = portAuthenticationOf(annotations, ports);
  const service: Service = {
    attributes: {
      provider: "Kubernetes",
      name,
      namespace,
      labels: stringsOf(object.metadata.labels),
      exportTo: exportToOf(annotations),
      selector: Object.keys(selector).length === 0 ? undefined : selector,
      type: textOf(spec.type) || "ClusterIP",
      objectName: name,
      ...(resolution === "Alias" ? { externalName: textOf(spec.externalName) } : {}),
      clusterExternalAddresses: external.length === 0 ? new Map() : new Map([[settings.clusterId, external]]),
      clusterExternalPorts: nodeSelector === undefined ? new Map() : new Map([[settings.clusterId, nodePortsOf(spec)]]),
      trafficDistribution: trafficDistributionOf(
        textOf(spec.trafficDistribution),
        annotations[trafficDistributionAnnotation],
        context.namespaceAnnotations[trafficDistributionAnnotation],
      ),
      nodeLocal: spec.internalTrafficPolicy === "Local",
      publishNotReadyAddresses: flagOf(spec.publishNotReadyAddresses) === true,
      aliases: [],
      ...(portAuthentication.size === 0 ? {} : { portAuthentication }),
    },
    hostname: serviceHostname(name, namespace, settings.domain),
    ports: ports.map((port) => ({ name: port.name, port: port.port, protocol: port.protocol })),
    defaultAddress: addresses[0] ?? noAddress,
    autoAllocatedIPv4: "",
    autoAllocatedIPv6: "",
    clusterVips: new Map([[settings.clusterId, addresses]]),
    resolution,
    meshExternal: resolution === "Alias",
    serviceAccounts: accountsOf(annotations, namespace, settings.trustDomain),
    creationTimestampMs: creationTimeMs(object),
    resourceVersion: textOf(object.metadata.resourceVersion),
    origins: [object.origin],
  };
  return { object, service, ports };
}
