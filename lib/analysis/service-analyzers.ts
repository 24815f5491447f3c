import type { Diagnostic } from "../base/diagnostic.ts";
import { fieldsOf, listOf, stringsOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import { networksFile } from "../config/folder/directory.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import { isKnownProtocol } from "../config/rules/protocols.ts";
import { hasAllocatedAddresses, isPlainTcp } from "../config/rules/workloads/service-entry.ts";
import { hostsOverlap } from "../config/values/host-name.ts";
import { isSubset } from "../config/values/labels.ts";
import { type Analyzer, found } from "./analyzer.ts";
import { isControlPlane } from "./control-plane.ts";
import { fullHost } from "./known-hosts.ts";

const portNames: Analyzer = {
  name: "service.PortNameAnalyzer",
  about: "names of service ports say the protocol",
  *analyze({ services }) {
    for (const service of services) {
      // Nobody writes these: an installer or a controller does.
      if (isControlPlane(service) || service.labels[managedLabel] !== undefined) continue;
      const external = service.type === "ExternalName";
      for (const [index, { name, port, protocol, appProtocol }] of service.ports.entries()) {
        if (protocol !== "TCP" || appProtocol !== "") continue;
        const written = name.split("-")[0] ?? "";
        const says = wellKnownPorts.has(port) || (written !== "" && isKnownProtocol(written));
        if (says && !(external && name === "tcp")) continue;
        const path = ["spec", "ports", index, "name"];
        const message =
          external && name === "tcp"
            ? 'the name "tcp" of a port of an ExternalName service catches connections to every destination on its number'
            : `the name ${JSON.stringify(name)} of the port has no protocol`;
        const hint = "name it protocol or protocol-suffix, or give appProtocol";
        yield found(external ? "IST0150" : "IST0118", service, path, message, hint);
      }
    }
  },
};

/** Ports whose protocol is known to wait for the server's first words: Istio takes them for TCP. */
const wellKnownPorts: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

/** Of services that a controller of the Gateway API made. */
const managedLabel = "gateway.istio.io/managed";

const multipleServices: Analyzer = {
  name: "deployment.MultiServiceAnalyzer",
  about: "services of one workload do not contradict each other",
  *analyze({ services, pods }) {
    for (const workload of pods) {
      if (workload.object.kind === "Pod") continue;
      const mine = services.filter(
        ({ namespace, selector }) =>
          namespace === workload.namespace && selector !== undefined && isSubset(selector, workload.labels),
      );
      const ports = mine.flatMap((service) => service.ports.map((port) => ({ ...port, service: service.name })));
      for (const [port, same] of Map.groupBy(ports, (entry) => entry.port)) {
        if (new Set(same.map(({ protocol }) => protocol)).size < 2) continue;
        const names = [...new Set(same.map(({ service }) => service))].sort().join(", ");
        yield found("IST0116", workload, [], `port ${port} has several protocols in the services ${names}`);
      }
      for (const [target, same] of Map.groupBy(ports, (entry) => entry.targetPort)) {
        const several = new Set(same.map(({ service }) => service)).size > 1;
        if (!several || new Set(same.map(({ port }) => port)).size < 2) continue;
        const list = same
          .map(({ service, port }) => `${service}:${port}`)
          .sort()
          .join(", ");
        yield found("IST0137", workload, [], `target port ${target} is reached through several ports: ${list}`);
      }
    }
  },
};

const entryAddresses: Analyzer = {
  name: "serviceentry.Analyzer",
  about: "TCP ports of ServiceEntries have addresses",
  *analyze({ serviceEntries, meshConfig }) {
    if (allocatesForAll(meshConfig)) return;
    for (const config of serviceEntries) {
      if (config.spec.addresses !== undefined || hasAllocatedAddresses(config.status)) continue;
      for (const [index, port] of (config.spec.ports ?? []).entries()) {
        if (!isPlainTcp(port)) continue;
        const message = `the port ${port.name} of protocol TCP has no address to be known by`;
        yield found("IST0134", config, ["spec", "ports", index], message, "give addresses");
      }
    }
  },
};

/** Whether all proxies of a mesh answer DNS themselves, and make up addresses for hosts that have none. */
function allocatesForAll({ defaultConfig }: MeshConfig): boolean {
  const settings = defaultConfig.proxyMetadata;
  const allocates = ["ISTIO_META_DNS_AUTO_ALLOCATE", "PILOT_ENABLE_IP_AUTOALLOCATE"];
  return settings.ISTIO_META_DNS_CAPTURE === "true" && allocates.some((name) => settings[name] === "true");
}

const entryProtocols: Analyzer = {
  name: "serviceentry.ConflictingServiceEntryProtocolAnalyzer",
  about: "ServiceEntries for one host agree about protocols",
  *analyze({ serviceEntries, meshConfig }) {
    const byHost = new Map<string, Config<ServiceEntry>[]>();
    const later = (config: Config<ServiceEntry>): ReadonlySet<Config<ServiceEntry>> => {
      const others = config.spec.hosts.flatMap((host) => byHost.get(host) ?? []);
      return new Set(others.slice(-maxOthers));
    };
    let clashes = 0;
    // From the last to the first, so that each is held against those that come after it.
    const findings: Diagnostic[] = [];
    for (const config of serviceEntries.toReversed()) {
      for (const other of [...later(config)].toReversed()) {
        const clash = protocolClash(config, other);
        const scopes = [config, other].map(({ spec, meta }) =>
          (spec.exportTo ?? meshConfig.defaultServiceExportTo).map((scope) => (scope === "." ? meta.namespace : scope)),
        );
        const [own = [], theirs = []] = scopes;
        const visible = own.includes("*") || theirs.includes("*") || own.some((scope) => theirs.includes(scope));
        if (clash === undefined || !visible || clashes === maxClashes) continue;
        clashes += 1;
        const message = `declares ${clash.own} for ${clash.host}:${clash.port}, but ${other.meta.namespace}/${other.meta.name} declares ${clash.theirs}`;
        findings.push(found("IST0177", config, ["spec", "ports"], message));
      }
      for (const host of config.spec.hosts) {
        const known = byHost.get(host);
        if (known === undefined) byHost.set(host, [config]);
        else known.push(config);
      }
    }
    yield* findings.toReversed();
  },
};

/** An entry is held against so many others of its hosts, and so many clashes are said: of thousands for one host each says the same. */
const maxOthers = 100;
const maxClashes = 1_000;

function protocolClash(a: Config<ServiceEntry>, b: Config<ServiceEntry>) {
  for (const host of a.spec.hosts.filter((name) => b.spec.hosts.includes(name))) {
    for (const { number, protocol = "" } of a.spec.ports ?? []) {
      const other = b.spec.ports?.find((port) => port.number === number);
      const theirs = other?.protocol ?? "";
      if (other !== undefined && theirs.toLowerCase() !== protocol.toLowerCase()) {
        return { host, port: number, own: protocol || "nothing", theirs: theirs || "nothing" };
      }
    }
  }
  return undefined;
}

const destinationRuleHosts: Analyzer = {
  name: "destinationrule.UnknownHostAnalyzer",
  about: "DestinationRules are for hosts that are known",
  *analyze({ destinationRules, hosts, services, serviceEntries }) {
    const known = [
      ...services.map(({ name, namespace }) => fullHost(name, namespace)),
      ...serviceEntries.flatMap(({ spec }) => spec.hosts),
    ];
    for (const config of destinationRules) {
      const host = fullHost(config.spec.host, config.meta.namespace);
      const matched = host.startsWith("*")
        ? known.some((other) => hostsOverlap(host, other))
        : hosts.find(host, config.meta.namespace) !== undefined;
      if (!matched)
        yield found("IST0174", config, ["spec", "host"], `no service is known as ${JSON.stringify(config.spec.host)}`);
    }
  },
};

const subsetPods: Analyzer = {
  name: "destinationrule.SubsetSelectPodAnalyzer",
  about: "subsets select pods",
  *analyze({ destinationRules, services, pods }) {
    const byHost = new Map(services.map((service) => [fullHost(service.name, service.namespace), service]));
    const podsIn = Map.groupBy(pods, ({ namespace }) => namespace);
    for (const config of destinationRules) {
      const service = byHost.get(fullHost(config.spec.host, config.meta.namespace));
      if (service?.selector === undefined || config.spec.subsets === undefined) continue;
      const { selector } = service;
      const mine = (podsIn.get(service.namespace) ?? []).filter(({ labels }) => isSubset(selector, labels));
      for (const [index, subset] of (config.spec.subsets ?? []).entries()) {
        if (mine.length === 0 || mine.some(({ labels }) => isSubset(plainLabels(subset.labels ?? {}), labels)))
          continue;
        const message = `subset ${subset.name} selects none of the ${mine.length} pods of ${service.namespace}/${service.name}`;
        yield found("IST0173", config, ["spec", "subsets", index, "labels"], message);
      }
    }
  },
};

/** Labels that pods get from where they run are not in files. */
function plainLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).filter(([key]) => !/^topology\.(?:istio|kubernetes)\.io\//.test(key)),
  );
}

const caCertificates: Analyzer = {
  name: "destinationrule.CaCertificateAnalyzer",
  about: "TLS to upstreams verifies their certificates",
  *analyze({ destinationRules }) {
    for (const config of destinationRules) {
      const { trafficPolicy, workloadSelector } = config.spec;
      const verifies = (tls: {
        readonly mode?: string;
        readonly caCertificates?: string;
        readonly credentialName?: string;
        readonly caCertCredentialName?: string;
        readonly insecureSkipVerify?: boolean;
      }) =>
        (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL") ||
        tls.caCertificates !== undefined ||
        ((tls.credentialName ?? tls.caCertCredentialName) !== undefined && workloadSelector !== undefined);
      const hint = "give caCertificates";
      if (trafficPolicy?.tls !== undefined && !verifies(trafficPolicy.tls)) {
        const message = `TLS of mode ${trafficPolicy.tls.mode} to ${config.spec.host} verifies no certificate`;
        yield found("IST0128", config, ["spec", "trafficPolicy", "tls"], message, hint);
      }
      for (const [index, level] of (trafficPolicy?.portLevelSettings ?? []).entries()) {
        if (level.tls === undefined || verifies(level.tls)) continue;
        const path = ["spec", "trafficPolicy", "portLevelSettings", index, "tls"];
        yield found(
          "IST0129",
          config,
          path,
          `TLS to port ${level.port.number} of ${config.spec.host} verifies no certificate`,
          hint,
        );
      }
    }
  },
};

const applicationUid: Analyzer = {
  name: "applicationUID.Analyzer",
  about: "no application runs as the proxy's user",
  *analyze({ pods }) {
    for (const pod of pods) {
      if (isControlPlane({ labels: stringsOf(pod.object.metadata.labels) })) continue;
      const spec = fieldsOf(pod.object.spec);
      const podSpec = pod.object.kind === "Pod" ? spec : fieldsOf(fieldsOf(spec.template).spec);
      const containers = listOf(podSpec.containers).map(fieldsOf);
      const applications = containers.filter(({ name }) => name !== "istio-proxy" && name !== "istio-operator");
      if (applications.length === 0 && containers.length > 0) continue;
      const contexts = [podSpec.securityContext, ...applications.map(({ securityContext }) => securityContext)];
      if (contexts.some((context) => fieldsOf(context).runAsUser === 1337)) {
        yield found(
          "IST0144",
          pod,
          ["spec"],
          "runs as user 1337, whose traffic bypasses the proxy",
          "choose another user",
        );
      }
    }
  },
};

const meshNetworks: Analyzer = {
  name: "meshnetworks.MeshNetworksAnalyzer",
  about: "networks name clusters that are known",
  *analyze({ meshNetworks: { networks }, clusterIds }) {
    const origin = {
      key: { group: "", kind: "MeshNetworks", name: "MeshNetworks", namespace: "" },
      file: networksFile,
      // Whoever has the file says the line.
      line: 0,
    };
    for (const [name, network] of Object.entries(networks)) {
      for (const [index, { fromRegistry }] of network.endpoints.entries()) {
        if (fromRegistry === undefined || clusterIds.includes(fromRegistry)) continue;
        const path = ["networks", name, "endpoints", index, "fromRegistry"];
        yield found("IST0126", { origin }, path, `no cluster is known as ${JSON.stringify(fromRegistry)}`);
      }
    }
  },
};

export const serviceAnalyzers: readonly Analyzer[] = [
  applicationUid,
  caCertificates,
  destinationRuleHosts,
  entryAddresses,
  entryProtocols,
  meshNetworks,
  multipleServices,
  portNames,
  subsetPods,
];
