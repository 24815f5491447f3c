import { type Diagnostic, kindText, type Origin } from "../base/diagnostic.ts";
import { fieldsOf, listOf, stringsOf, textOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import type { ParsedObject } from "../config/documents/parse.ts";
import type { DestinationRule } from "../config/kinds/destination-rule.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import type { NamedProxy } from "../config/kinds/named-proxy.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import type { FolderSettings } from "../config/kinds/stated-endpoints.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import { templateKinds, templateOf } from "../config/kubernetes/pod-template.ts";
import { groupVersion } from "../config/values/group-version.ts";
import { isSubset, type Labels } from "../config/values/labels.ts";
import { sameElements } from "../incremental/same-elements.ts";
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
  /** The folder's own settings; absent: none. */
  readonly settings?: Pick<FolderSettings, "proxies">;
  /** What reading had to say. */
  readonly diagnostics: readonly Diagnostic[];
  /** What compiling had to say beyond that; absent: nothing was compiled. */
  readonly compiled?: readonly Diagnostic[];
}

/** The input with the lookups that analysers share. */
export interface Analysis extends AnalysisInput {
  readonly virtualServices: readonly Config<VirtualService>[];
  readonly destinationRules: readonly Config<DestinationRule>[];
  readonly gateways: readonly Config<Gateway>[];
  readonly serviceEntries: readonly Config<ServiceEntry>[];
  readonly pods: readonly Workload[];
  /** Proxies that settings name. */
  readonly namedProxies: readonly NamedProxy[];
  readonly services: readonly KubernetesService[];
  readonly namespaces: readonly Workload[];
  readonly secrets: readonly ParsedObject[];
  readonly hosts: KnownHosts;
  /** The pods that a gateway selects. */
  readonly podsOf: (gateway: Config<Gateway>) => readonly Workload[];
  /** @param name `namespace/name` */
  readonly gatewayNamed: (name: string) => Config<Gateway> | undefined;
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

/** The lookups of one input. */
export const analysisOf = (input: AnalysisInput): Analysis => createAnalyses()(input);

/** The lookups of one input after the other: what has the same elements as in the input before is the same list. */
export function createAnalyses(): (input: AnalysisInput) => Analysis {
  const lists = new Map<string, readonly unknown[]>();
  const same = <T>(name: string, next: readonly T[], alike?: (a: unknown, b: unknown) => boolean): readonly T[] => {
    const before = lists.get(name);
    // A name always stands for a list of one type.
    if (before !== undefined && sameElements<unknown>(before, next, alike)) return before as readonly T[];
    lists.set(name, next);
    return next;
  };
  const workload = onceEach(workloadOf);
  const template = onceEach(workloadOfTemplate);
  const service = onceEach(serviceOf);
  const hostsOf = onceFor(knownHosts);
  const podsOf = onceFor((pods: readonly Workload[]) =>
    onceEach((gateway: Config<Gateway>) => pods.filter(({ labels }) => isSubset(gateway.spec.selector ?? {}, labels))),
  );
  const gatewayNamed = onceFor((gateways: readonly Config<Gateway>[]) => {
    const byName = new Map(gateways.map((one) => [`${one.meta.namespace}/${one.meta.name}`, one]));
    return (name: string) => byName.get(name);
  });
  return (input) => {
    // Configs were read by the schema of their kind, so the kind says the type of the spec.
    const byKind = Map.groupBy(input.configs, ({ meta }) => kindText(meta));
    const ofKind = <Spec>(kind: string) => same(`kind ${kind}`, (byKind.get(kind) ?? []) as readonly Config<Spec>[]);
    const objectsByKind = Map.groupBy(input.objects, ({ kind }) => kind);
    const core = (kind: string) =>
      (objectsByKind.get(kind) ?? []).filter(({ apiVersion }) => groupVersion(apiVersion).group === "");
    const templates = templateKinds.flatMap((kind) => objectsByKind.get(kind) ?? []);
    const services = same("services", core("Service").map(service));
    const serviceEntries = ofKind<ServiceEntry>("ServiceEntry");
    const otherHosts = same("otherHosts", input.otherHosts ?? [], isSameValue);
    // Files often hold the deployment and not its pods, so a template counts as one.
    const pods = same("pods", [...core("Pod").map(workload), ...templates.map(template)]);
    const gateways = ofKind<Gateway>("Gateway");
    return {
      ...input,
      clusterIds: same("clusterIds", input.clusterIds),
      ofKind,
      virtualServices: ofKind<VirtualService>("VirtualService"),
      destinationRules: ofKind<DestinationRule>("DestinationRule"),
      gateways,
      serviceEntries,
      pods,
      namedProxies: same("namedProxies", input.settings?.proxies ?? [], isSameValue),
      services,
      namespaces: same("namespaces", core("Namespace").map(workload)),
      secrets: same("secrets", core("Secret")),
      hosts: hostsOf(services, serviceEntries, input.meshConfig, otherHosts),
      podsOf: podsOf(pods),
      gatewayNamed: gatewayNamed(gateways),
    };
  };
}

/** Hosts of Consul are made anew in each compile. */
const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The answer of before where the arguments are those of before. */
function onceFor<A extends readonly unknown[], T>(make: (...given: A) => T): (...given: A) => T {
  let last: { readonly given: A; readonly answer: T } | undefined;
  return (...given) => {
    if (last === undefined || !sameElements<unknown>(last.given, given)) last = { given, answer: make(...given) };
    return last.answer;
  };
}

/** The same answer for the same object. */
function onceEach<O extends object, T>(make: (object: O) => T): (object: O) => T {
  const made = new WeakMap<O, T>();
  return (object) => {
    const known = made.get(object) ?? make(object);
    made.set(object, known);
    return known;
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
