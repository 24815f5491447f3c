import type { Config } from "../config/config.ts";
import { type Diagnostic, kindText, type Origin } from "../config/diagnostic.ts";
import type { ParsedObject } from "../config/documents/parse.ts";
import { groupVersion } from "../config/group-version.ts";
import type { DestinationRule } from "../config/kinds/destination-rule.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import { templateKinds, templateOf } from "../config/kubernetes/pod-template.ts";
import type { Labels } from "../config/labels.ts";
import { fieldsOf, listOf, stringsOf, textOf } from "../config/untyped.ts";
import { type KnownHosts, knownHosts, type OtherHost } from "./known-hosts.ts";

/** What an analysis looks at: a folder's content, or what a cluster holds. */
export interface AnalysisInput {
  readonly configs: readonly Config[];
  /** Kubernetes objects. */
  readonly objects: readonly ParsedObject[];
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  /** Ids of the clusters whose objects these are. */
  readonly clusterIds: readonly string[];
  /** Hosts that none of the objects tells of, those of Consul: every namespace sees them. Absent: none. */
  readonly otherHosts?: readonly OtherHost[];
  /** What reading had to say. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The input with the lookups that analysers share. */
export interface Analysis extends AnalysisInput {
  readonly virtualServices: readonly Config<VirtualService>[];
  readonly destinationRules: readonly Config<DestinationRule>[];
  readonly gateways: readonly Config<Gateway>[];
  readonly serviceEntries: readonly Config<ServiceEntry>[];
  readonly pods: readonly Workload[];
  readonly services: readonly KubernetesService[];
  readonly namespaces: readonly Workload[];
  readonly hosts: KnownHosts;
  ofKind<Spec>(kind: string): readonly Config<Spec>[];
}

/** An object with labels: a pod, the template of a deployment, a namespace. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly object: ParsedObject;
  readonly origin: Origin;
}

export interface KubernetesService extends Workload {
  readonly type: string;
  readonly externalName: string;
  readonly selector: Labels | undefined;
  readonly ports: readonly {
    readonly name: string;
    readonly port: number;
    readonly targetPort: number | string;
    readonly protocol: string;
    readonly appProtocol: string;
  }[];
}

export function analysisOf(input: AnalysisInput): Analysis {
  // Configs were read by the schema of their kind, so the kind says the type of the spec.
  const ofKind = <Spec>(kind: string) =>
    input.configs.filter((config) => kindText(config.meta) === kind) as readonly Config<Spec>[];
  const objects = (group: string, kind: string) =>
    input.objects.filter((object) => object.kind === kind && groupVersion(object.apiVersion).group === group);
  const services = objects("", "Service").map(serviceOf);
  const serviceEntries = ofKind<ServiceEntry>("ServiceEntry");
  const templates = input.objects.filter(({ kind }) => templateKinds.some((known) => known === kind));
  return {
    ...input,
    ofKind,
    virtualServices: ofKind<VirtualService>("VirtualService"),
    destinationRules: ofKind<DestinationRule>("DestinationRule"),
    gateways: ofKind<Gateway>("Gateway"),
    serviceEntries,
    // Files often hold the deployment and not its pods, so a template counts as one.
    pods: [...objects("", "Pod").map(workloadOf), ...templates.map(workloadOfTemplate)],
    services,
    namespaces: objects("", "Namespace").map(workloadOf),
    hosts: knownHosts(services, serviceEntries, input.meshConfig, input.otherHosts),
  };
}

function workloadOf(object: ParsedObject): Workload {
  const { name, namespace } = object.metadata;
  const cluster = object.kind === "Namespace" || object.kind === "Node";
  const space = cluster ? "" : (namespace ?? "default");
  return {
    name,
    namespace: space,
    labels: stringsOf(object.metadata.labels),
    annotations: stringsOf(object.metadata.annotations),
    object,
    origin: { ...object.origin, key: { ...object.origin.key, namespace: space } },
  };
}

function workloadOfTemplate(object: ParsedObject): Workload {
  const metadata = fieldsOf(templateOf(object).metadata);
  return {
    ...workloadOf(object),
    labels: stringsOf(metadata.labels),
    annotations: stringsOf(metadata.annotations),
  };
}

function serviceOf(object: ParsedObject): KubernetesService {
  const spec = fieldsOf(object.spec);
  const selector = stringsOf(spec.selector);
  return {
    ...workloadOf(object),
    type: textOf(spec.type) || "ClusterIP",
    externalName: textOf(spec.externalName),
    selector: Object.keys(selector).length === 0 ? undefined : selector,
    ports: listOf(spec.ports).map((entry) => {
      const port = fieldsOf(entry);
      const number = typeof port.port === "number" ? port.port : 0;
      const target = port.targetPort;
      return {
        name: textOf(port.name),
        port: number,
        targetPort: typeof target === "number" || typeof target === "string" ? target : number,
        protocol: textOf(port.protocol) || "TCP",
        appProtocol: textOf(port.appProtocol),
      };
    }),
  };
}
