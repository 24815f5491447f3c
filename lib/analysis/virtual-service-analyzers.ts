import type { Config } from "../config/config.ts";

import type { Path } from "../config/finding.ts";
import type { Destination, HTTPRoute, VirtualService } from "../config/kinds/virtual-service.ts";
import { isJwtClaimKey } from "../config/rules/routes/header-rules.ts";
import { hostsOverlap, isWildcard } from "../config/values/host-name.ts";
import { isSubset } from "../config/values/labels.ts";
import { type Analyzer, found, notFound } from "./analyzer.ts";
import { fullHost } from "./known-hosts.ts";

interface Target {
  readonly destination: Destination;
  readonly path: Path;
  readonly mirror: boolean;
}

/** Every destination that a VirtualService names. */
export function* destinationsOf({ spec }: Config<VirtualService>): Generator<Target> {
  for (const [index, route] of (spec.http ?? []).entries()) yield* httpDestinations(route, ["spec", "http", index]);
  for (const kind of ["tls", "tcp"] as const) {
    for (const [index, route] of (spec[kind] ?? []).entries()) {
      for (const [position, { destination }] of (route.route ?? []).entries()) {
        yield { destination, path: ["spec", kind, index, "route", position, "destination"], mirror: false };
      }
    }
  }
}

function* httpDestinations(route: HTTPRoute, path: Path): Generator<Target> {
  for (const [position, { destination }] of (route.route ?? []).entries()) {
    yield { destination, path: [...path, "route", position, "destination"], mirror: false };
  }
  if (route.mirror !== undefined) yield { destination: route.mirror, path: [...path, "mirror"], mirror: true };
  for (const [position, { destination }] of (route.mirrors ?? []).entries()) {
    yield { destination, path: [...path, "mirrors", position, "destination"], mirror: true };
  }
}

const destinationHosts: Analyzer = {
  name: "virtualservice.DestinationHostAnalyzer",
  about: "destinations are services that are known, and name a port where there are several",
  *analyze(analysis) {
    for (const config of analysis.virtualServices) {
      for (const { destination, path, mirror } of destinationsOf(config)) {
        const { host, port } = destination;
        const known = analysis.hosts.find(host, config.meta.namespace);
        const at = [...path, "host"];
        if (known === undefined) yield notFound(config, at, mirror ? "mirror host" : "host", host);
        else if (port?.number !== undefined && known.ports.length > 0 && !known.ports.includes(port.number)) {
          yield notFound(config, [...path, "port", "number"], "host:port", `${host}:${port.number}`);
        } else if (port === undefined && known.ports.length > 1) {
          yield found(
            "IST0112",
            config,
            at,
            `${host} has several ports (${known.ports.join(", ")}), and the destination names none`,
            "add port.number",
          );
        }
      }
    }
  },
};

const destinationSubsets: Analyzer = {
  name: "virtualservice.DestinationRuleAnalyzer",
  about: "subsets are defined by a DestinationRule",
  *analyze({ virtualServices, destinationRules }) {
    const defined = new Set(
      destinationRules.flatMap(({ spec, meta }) =>
        (spec.subsets ?? []).map(({ name }) => `${fullHost(spec.host, meta.namespace)}/${name}`),
      ),
    );
    for (const config of virtualServices) {
      for (const { destination, path, mirror } of destinationsOf(config)) {
        const { host, subset } = destination;
        if (subset === undefined || defined.has(`${fullHost(host, config.meta.namespace)}/${subset}`)) continue;
        const what = mirror ? "mirror+subset in destinationrule" : "host+subset in destinationrule";
        yield notFound(config, [...path, "subset"], what, `${host}+${subset}`);
      }
    }
  },
};

/** `namespace/name` of a gateway that a VirtualService names. @see docs/how-istio-does-it/names.md#gateway-names */
export function gatewayName(written: string, namespace: string): string {
  if (written.includes("/")) return written.startsWith("./") ? `${namespace}/${written.slice(2)}` : written;
  const [name = "", space] = written.split(".");
  return `${space ?? namespace}/${name}`;
}

const gateways: Analyzer = {
  name: "virtualservice.GatewayAnalyzer",
  about: "gateways exist, and have a host of the VirtualService",
  *analyze(analysis) {
    for (const config of analysis.virtualServices) {
      for (const [index, written] of (config.spec.gateways ?? []).entries()) {
        if (written === "mesh") continue;
        const path = ["spec", "gateways", index];
        const gateway = analysis.gatewayNamed(gatewayName(written, config.meta.namespace));
        if (gateway === undefined) {
          yield notFound(config, path, "gateway", written);
          continue;
        }
        const offered = gateway.spec.servers
          .flatMap((server) => server.hosts)
          .flatMap((host) => {
            const [namespace, name] = host.includes("/") ? host.split("/") : ["*", host];
            const space = namespace === "." ? gateway.meta.namespace : namespace;
            return space === "*" || space === config.meta.namespace ? [name ?? ""] : [];
          });
        if (!config.spec.hosts.some((host) => offered.some((other) => hostsOverlap(host, other)))) {
          yield found("IST0132", config, path, `no host of the VirtualService is a host of gateway ${written}`);
        }
      }
    }
  },
};

/** Whether it counts for sidecars. */
export const isMeshBound = ({ spec }: Config<VirtualService>): boolean => spec.gateways?.includes("mesh") ?? true;

const conflictingHosts: Analyzer = {
  name: "virtualservice.ConflictingMeshGatewayHostsAnalyzer",
  about: "no two VirtualServices for the mesh claim one host",
  *analyze({ virtualServices, meshConfig }) {
    const bound = virtualServices.filter((config) => isMeshBound(config) && config.spec.hosts.length > 0);
    const scopes = new Map(
      bound.map((config) => [
        config,
        (config.spec.exportTo ?? meshConfig.defaultVirtualServiceExportTo).map((scope) =>
          scope === "." ? config.meta.namespace : scope,
        ),
      ]),
    );
    const byHost = hostIndex(bound);
    for (const config of bound) {
      const own = scopes.get(config) ?? [];
      const rivals = byHost.sharing(config).filter((other) => {
        const theirs = scopes.get(other) ?? [];
        return own.includes("*") || theirs.includes("*") || own.some((scope) => theirs.includes(scope));
      });
      const [first] = rivals;
      if (first === undefined) continue;
      const names = rivals
        .map(({ meta }) => `${meta.namespace}/${meta.name}`)
        .sort()
        .join(", ");
      const message = `claims ${sharedHost(config, first)} for the mesh, as ${names} does`;
      yield found("IST0109", config, ["spec", "hosts"], message, "merge them, or narrow exportTo");
    }
  },
};

/** Who shares a host with whom: most hosts are names, and are found by them. */
function hostIndex(configs: readonly Config<VirtualService>[]) {
  const hosted = configs.flatMap((config) =>
    config.spec.hosts.map((host) => ({ config, host: fullHost(host, config.meta.namespace) })),
  );
  const exact = Map.groupBy(hosted, ({ host }) => host);
  const wildcards = hosted.filter(({ host }) => isWildcard(host));
  return {
    /** The others with a host in common, in the order of their names. */
    sharing(config: Config<VirtualService>): readonly Config<VirtualService>[] {
      const found = config.spec.hosts.flatMap((written) => {
        const host = fullHost(written, config.meta.namespace);
        const candidates = isWildcard(host) ? hosted : [...(exact.get(host) ?? []), ...wildcards];
        return candidates.filter((other) => other.config !== config && hostsOverlap(host, other.host));
      });
      return [...new Set(found.map((one) => one.config))];
    },
  };
}

function sharedHost(a: Config<VirtualService>, b: Config<VirtualService>): string | undefined {
  return a.spec.hosts.find((host) => {
    const full = fullHost(host, a.meta.namespace);
    return b.spec.hosts.some((other) => hostsOverlap(full, fullHost(other, b.meta.namespace)));
  });
}

const jwtClaims: Analyzer = {
  name: "virtualservice.JWTClaimRouteAnalyzer",
  about: "routing on claims goes with a RequestAuthentication at the gateway",
  *analyze(analysis) {
    const policies = analysis.ofKind<{ readonly selector?: { readonly matchLabels?: Record<string, string> } }>(
      "RequestAuthentication",
    );
    const { rootNamespace } = analysis.meshConfig;
    for (const config of analysis.virtualServices) {
      if (!routesOnClaims(config.spec)) continue;
      for (const [index, written] of (config.spec.gateways ?? []).entries()) {
        const name = gatewayName(written, config.meta.namespace);
        const gateway = analysis.gatewayNamed(name);
        if (gateway === undefined) continue;
        const open = analysis
          .podsOf(gateway)
          .find(
            (pod) =>
              !policies.some(
                ({ meta, spec }) =>
                  (meta.namespace === pod.namespace || meta.namespace === rootNamespace) &&
                  isSubset(spec.selector?.matchLabels ?? {}, pod.labels),
              ),
          );
        if (open === undefined) continue;
        const message = `routes on claims of a token, and no RequestAuthentication applies to ${open.namespace}/${open.name}`;
        yield found(
          "IST0149",
          config,
          ["spec", "gateways", index],
          message,
          "add a RequestAuthentication for the gateway",
        );
      }
    }
  },
};

function routesOnClaims(spec: VirtualService): boolean {
  return (spec.http ?? []).some((route) =>
    (route.match ?? []).some((match) =>
      [...Object.keys(match.headers ?? {}), ...Object.keys(match.withoutHeaders ?? {})].some(isJwtClaimKey),
    ),
  );
}

const ingressRoutes: Analyzer = {
  name: "virtualservice.IngressRouteRulesAnalyzer",
  about: "routes of a gateway do not bypass the subsets that the mesh uses",
  *analyze({ virtualServices }) {
    const subsetHosts = new Map<string, Config<VirtualService>>();
    for (const config of virtualServices) {
      for (const { destination } of destinationsOf(config)) {
        if (destination.subset !== undefined)
          subsetHosts.set(fullHost(destination.host, config.meta.namespace), config);
      }
    }
    for (const config of virtualServices) {
      if (isMeshBound(config)) continue;
      for (const { destination, path } of destinationsOf(config)) {
        const other = subsetHosts.get(fullHost(destination.host, config.meta.namespace));
        if (destination.subset !== undefined || other === undefined || other === config) continue;
        const message = `the rules of ${other.meta.namespace}/${other.meta.name} for ${destination.host} do not apply at the gateway`;
        yield found("IST0140", config, path, message, "name the subsets here as well");
      }
    }
  },
};

export const virtualServiceAnalyzers: readonly Analyzer[] = [
  conflictingHosts,
  destinationHosts,
  destinationSubsets,
  gateways,
  jwtClaims,
  ingressRoutes,
];
