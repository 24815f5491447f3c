import type { Config } from "../config/config.ts";
import { networksFile } from "../config/folder/directory.ts";
import { hostsOverlap } from "../config/host-name.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import { isSubset } from "../config/labels.ts";
import { isKnownProtocol } from "../config/rules/protocols.ts";
import { allocatesAddresses } from "../config/rules/workloads/service-entry.ts";
import { fieldsOf, listOf } from "../config/untyped.ts";
import { type Analyzer, found } from "./analyzer.ts";
import { fullHost } from "./known-hosts.ts";

const portNames: Analyzer = {
  name: "service.PortNameAnalyzer",
  about: "names of service ports say the protocol",
  *analyze({ services }) {
    for (const service of services) {
      for (const [index, { name, protocol, appProtocol }] of service.ports.entries()) {
        if (protocol !== "TCP" || appProtocol !== "") continue;
        const written = name.split("-")[0] ?? "";
        const external = service.type === "ExternalName";
        if (written !== "" && isKnownProtocol(written) && !(external && written === "tcp")) continue;
        const path = ["spec", "ports", index, "name"];
        const message = `the name ${JSON.stringify(name)} of the port says no protocol`;
        const hint = "name it protocol or protocol-suffix, or give appProtocol";
        yield found(external ? "IST0150" : "IST0118", service, path, message, hint);
      }
    }
  },
};

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
  *analyze({ serviceEntries }) {
    for (const config of serviceEntries) {
      const { addresses, ports = [] } = config.spec;
      if (addresses !== undefined || allocatesAddresses(config.spec, config.meta)) continue;
      const index = ports.findIndex(({ protocol = "" }) => protocol === "" || protocol.toUpperCase() === "TCP");
      if (index < 0) continue;
      const message = `the port ${ports[index]?.name} of protocol TCP has no address to be known by`;
      yield found("IST0134", config, ["spec", "ports", index], message, "give addresses");
    }
  },
};

const entryProtocols: Analyzer = {
  name: "serviceentry.ConflictingServiceEntryProtocolAnalyzer",
  about: "ServiceEntries for one host agree about protocols",
  *analyze({ serviceEntries, meshConfig }) {
    for (const [index, config] of serviceEntries.entries()) {
      for (const other of serviceEntries.slice(index + 1)) {
        const clash = protocolClash(config, other);
        const scopes = [config, other].map(({ spec, meta }) =>
          (spec.exportTo ?? meshConfig.defaultServiceExportTo).map((scope) => (scope === "." ? meta.namespace : scope)),
        );
        const [own = [], theirs = []] = scopes;
        const visible = own.includes("*") || theirs.includes("*") || own.some((scope) => theirs.includes(scope));
        if (clash === undefined || !visible) continue;
        const message = `says ${clash.own} for ${clash.host}:${clash.port}, where ${other.meta.namespace}/${other.meta.name} says ${clash.theirs}`;
        yield found("IST0177", config, ["spec", "ports"], message);
      }
    }
  },
};

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
      ...serviceEntries.flatMap(({ spec, meta }) => spec.hosts.map((host) => fullHost(host, meta.namespace))),
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
    for (const config of destinationRules) {
      const host = fullHost(config.spec.host, config.meta.namespace);
      const service = services.find(({ name, namespace }) => fullHost(name, namespace) === host);
      if (service?.selector === undefined) continue;
      const mine = pods.filter(
        ({ namespace, labels }) => namespace === service.namespace && isSubset(service.selector ?? {}, labels),
      );
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
        readonly insecureSkipVerify?: boolean;
      }) =>
        (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL") ||
        tls.caCertificates !== undefined ||
        (tls.credentialName !== undefined && workloadSelector !== undefined);
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
      const spec = fieldsOf(pod.object.spec);
      const podSpec = pod.object.kind === "Pod" ? spec : fieldsOf(fieldsOf(spec.template).spec);
      const contexts = [
        podSpec.securityContext,
        ...listOf(podSpec.containers)
          .map(fieldsOf)
          .filter((container) => container.name !== "istio-proxy")
          .map((container) => container.securityContext),
      ];
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
