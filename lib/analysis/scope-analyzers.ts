import type { Config } from "../config/config.ts";
import type { DestinationRule } from "../config/kinds/destination-rule.ts";
import type { IstioEgressListener, Sidecar } from "../config/kinds/sidecar.ts";
import type { HTTPRoute, VirtualService } from "../config/kinds/virtual-service.ts";
import { isHttpProtocol } from "../config/rules/protocols.ts";
import { isSubsetHost } from "../config/values/host-name.ts";
import type { Analysis } from "./analysis-input.ts";
import { type Analyzer, found } from "./analyzer.ts";
import { fullHost } from "./known-hosts.ts";
import { destinationsOf, gatewayName, isMeshBound } from "./virtual-service-analyzers.ts";

/** Names of services, namespaces or the like in one message. */
const maxNamed = 3;

function nameList(names: readonly string[]): string {
  const left = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

/** A host with the numbers of its HTTP ports. */
interface HttpHost {
  readonly namespace: string;
  readonly host: string;
  readonly ports: ReadonlySet<number>;
}

function httpHostsOf({ services, serviceEntries }: Analysis): readonly HttpHost[] {
  const named = (name: string) => isHttpProtocol(name.startsWith("grpc-web") ? "grpc-web" : (name.split("-")[0] ?? ""));
  return [
    ...services.map(({ name, namespace, ports }) => ({
      namespace,
      host: fullHost(name, namespace),
      ports: new Set(ports.filter((port) => named(port.appProtocol || port.name)).map(({ port }) => port)),
    })),
    ...serviceEntries.flatMap(({ meta: { namespace }, spec }) => {
      const ports = new Set(
        (spec.ports ?? []).filter(({ protocol = "" }) => isHttpProtocol(protocol)).map(({ number }) => number),
      );
      return spec.hosts.map((host) => ({ namespace, host, ports }));
    }),
  ];
}

/** A listener with a port has the hosts that it imports, and no other listener adds to the route table of this number. */
const hiddenPorts: Analyzer = {
  name: "portolan.HiddenServicePortAnalyzer",
  about: "a Sidecar's listener with a port hides no service that another of its listeners imports",
  *analyze(analysis) {
    const sidecars = analysis.ofKind<Sidecar>("Sidecar").filter(({ spec }) => spec.egress?.some(hasPort) === true);
    if (sidecars.length === 0) return;
    const byPort = new Map<number, HttpHost[]>();
    for (const host of httpHostsOf(analysis)) {
      for (const port of host.ports) byPort.set(port, [...(byPort.get(port) ?? []), host]);
    }
    for (const config of sidecars) {
      const { egress = [] } = config.spec;
      for (const [index, listener] of egress.entries()) {
        const number = listener.port?.number;
        if (number === undefined || listener.bind !== undefined) continue;
        const here = egress.filter((other) => other.port?.number === number);
        const beside = egress.filter((other) => other.port === undefined);
        const hidden = (byPort.get(number) ?? []).filter(
          (host) => imports(beside, host, config) && !imports(here, host, config),
        );
        if (hidden.length === 0) continue;
        // Its own services first: those are the ones that nobody expects to be gone.
        const sorted = hidden.toSorted(
          (a, b) => Number(isOther(a, config)) - Number(isOther(b, config)) || (a.host < b.host ? -1 : 1),
        );
        if (sorted.every((one) => isOther(one, config))) continue;
        const names = sorted.filter((one) => !isOther(one, config)).map(({ host }) => host);
        const message = `port ${number} is for ${nameList(listener.hosts)} alone, so HTTP requests to port ${number} of ${nameList(names)} find no route, although another listener imports ${names.length === 1 ? "it" : "them"}`;
        yield found(
          "service-hidden-by-sidecar",
          config,
          ["spec", "egress", index, "hosts"],
          message,
          `add ./${names[0]} to the hosts of this listener`,
        );
      }
    }
  },
};

const hasPort = ({ port }: IstioEgressListener): boolean => port?.number !== undefined;
const isOther = ({ namespace }: HttpHost, { meta }: Config): boolean => namespace !== meta.namespace;

function imports(listeners: readonly IstioEgressListener[], { namespace, host }: HttpHost, { meta }: Config): boolean {
  return listeners.some(({ hosts }) =>
    hosts.some((entry) => {
      const [space = "", name = ""] = entry.split("/");
      const wanted = space === "." ? meta.namespace : space;
      return (wanted === "*" || wanted === namespace) && isSubsetHost(host, name);
    }),
  );
}

/** A subset is a cluster where the rule that defines it applies: rules of other namespaces than the client's, the service's and the root do not. */
const missingClusters: Analyzer = {
  name: "portolan.MissingClusterAnalyzer",
  about: "clients have the subsets that they are routed to",
  *analyze(analysis) {
    const rules = rulesByHost(analysis);
    const sidecars = sidecarNamespaces(analysis);
    for (const config of analysis.virtualServices) {
      let clients: readonly string[] | undefined;
      for (const { destination, path } of destinationsOf(config)) {
        const { host, subset } = destination;
        if (subset === undefined) continue;
        const full = fullHost(host, config.meta.namespace);
        const defining = rules.of(full).filter(({ spec }) => spec.subsets?.some(({ name }) => name === subset));
        const [first] = defining;
        // What no rule defines has a message of its own.
        if (first === undefined) continue;
        const home = analysis.hosts.find(host, config.meta.namespace) === undefined ? undefined : rules.homeOf(full);
        if (home === undefined) continue;
        const route = config.spec.http?.[Number(path[2])];
        clients ??= clientsOf(config, sidecars, analysis);
        const lacking = clientsOfRoute(clients, route, config, analysis).filter(
          (client) =>
            !rules.chosen(full, client, home).some((rule) => rule.spec.subsets?.some(({ name }) => name === subset)),
        );
        if (lacking.length === 0) continue;
        const { namespace, name } = first.meta;
        const message = `clients in ${nameList(lacking)} have no subset ${subset} of ${full}, and get 503: DestinationRule ${namespace}/${name}, which defines it, does not apply to them`;
        const places = [...new Set([home, analysis.meshConfig.rootNamespace])].join(" or ");
        const hint = `rules are looked for in the namespace of the client, of the service and in the root namespace: move it to ${places}`;
        yield found("subset-not-in-reach", config, [...path, "subset"], message, hint);
      }
    }
  },
};

interface RulesByHost {
  of(host: string): readonly Config<DestinationRule>[];
  /** Namespace of a service; undefined for a host that is none. */
  homeOf(host: string): string | undefined;
  /**
   * The rules that a client takes for a host.
   * @see docs/how-istio-does-it/destination-rules.md
   */
  chosen(host: string, client: string, home: string): readonly Config<DestinationRule>[];
}

function rulesByHost(analysis: Analysis): RulesByHost {
  const { rootNamespace, defaultDestinationRuleExportTo } = analysis.meshConfig;
  const all = Map.groupBy(
    analysis.destinationRules.filter(({ spec }) => spec.workloadSelector === undefined),
    ({ spec, meta }) => fullHost(spec.host, meta.namespace),
  );
  const wildcards = [...all.keys()].filter((host) => host.startsWith("*")).sort((a, b) => b.length - a.length);
  const homes = new Map<string, string>();
  for (const { spec, meta } of analysis.serviceEntries) for (const host of spec.hosts) homes.set(host, meta.namespace);
  for (const { name, namespace } of analysis.services) homes.set(fullHost(name, namespace), namespace);
  const matching = (host: string) => [
    host,
    ...wildcards.filter((wildcard) => wildcard !== host && isSubsetHost(host, wildcard)),
  ];
  const isFor = ({ spec, meta }: Config<DestinationRule>, client: string) =>
    (spec.exportTo ?? defaultDestinationRuleExportTo).some(
      (scope) => scope === "*" || (scope === "." ? meta.namespace : scope) === client,
    );
  const inNamespace = (host: string, namespace: string, client: string) => {
    for (const name of matching(host)) {
      const here = (all.get(name) ?? []).filter((rule) => rule.meta.namespace === namespace && isFor(rule, client));
      if (here.length > 0) return here;
    }
    return undefined;
  };
  return {
    of: (host) => all.get(host) ?? [],
    homeOf: (host) => homes.get(host),
    chosen: (host, client, home) =>
      (client === rootNamespace ? undefined : inNamespace(host, client, client)) ??
      inNamespace(host, home, client) ??
      inNamespace(host, rootNamespace, client) ??
      [],
  };
}

/** Namespaces with sidecars that a VirtualService counts for. */
function clientsOf(config: Config<VirtualService>, sidecars: readonly string[], analysis: Analysis): readonly string[] {
  if (!isMeshBound(config)) return [];
  const scopes = (config.spec.exportTo ?? analysis.meshConfig.defaultVirtualServiceExportTo).map((scope) =>
    scope === "." ? config.meta.namespace : scope,
  );
  return sidecars.filter((name) => scopes.includes("*") || scopes.includes(name));
}

/** Namespaces whose pods get a sidecar, as far as objects say. */
function sidecarNamespaces({ namespaces, pods }: Analysis): readonly string[] {
  const injected = namespaces.filter(
    ({ labels }) => labels["istio-injection"] === "enabled" || labels["istio.io/rev"] !== undefined,
  );
  const populated = new Set(pods.map(({ namespace }) => namespace));
  return injected
    .map(({ name }) => name)
    .filter((name) => populated.has(name))
    .sort();
}

/** Those of a route that is for some gateways alone, and the namespaces of the gateways that it is for. */
function clientsOfRoute(
  mesh: readonly string[],
  route: HTTPRoute | undefined,
  config: Config<VirtualService>,
  analysis: Analysis,
): readonly string[] {
  const matches = route?.match ?? [];
  const isFor = (gateway: string) =>
    matches.length === 0 || matches.some(({ gateways }) => gateways === undefined || gateways.includes(gateway));
  const named = (config.spec.gateways ?? []).filter((name) => name !== "mesh" && isFor(name));
  const selected = named.flatMap((written) => {
    const name = gatewayName(written, config.meta.namespace);
    const gateway = analysis.gatewayNamed(name);
    return gateway === undefined ? [] : [...new Set(analysis.podsOf(gateway).map(({ namespace }) => namespace))];
  });
  return [...new Set([...(isFor("mesh") ? mesh : []), ...selected])].sort();
}

export const scopeAnalyzers: readonly Analyzer[] = [hiddenPorts, missingClusters];
