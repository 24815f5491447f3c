import type { Diagnostic } from "../base/diagnostic.ts";
import { canonicalJson } from "../config/canonical-json.ts";
import type { Config } from "../config/config.ts";
import type { Gateway, Server } from "../config/kinds/gateway.ts";
import type { HTTPRoute, VirtualService } from "../config/kinds/virtual-service.ts";
import { isHttpProtocol } from "../config/rules/protocols.ts";
import { hostsOverlap, isSubsetHost, isWildcard } from "../config/values/host-name.ts";
import type { Analysis } from "./analysis-input.ts";
import { type Analyzer, found } from "./analyzer.ts";
import { sameWorkload } from "./gateway-analyzers.ts";
import { gatewayName, isMeshBound } from "./virtual-service-analyzers.ts";

/** A VirtualService at one place, with one of its hosts. */
interface HostedAt {
  readonly config: Config<VirtualService>;
  readonly host: string;
  readonly index: number;
}

/** By gateway, `namespace/name` or `mesh`: who has a host there, by host. */
function hostsByGateway({ virtualServices }: Analysis): ReadonlyMap<string, ReadonlyMap<string, readonly HostedAt[]>> {
  const all = new Map<string, Map<string, HostedAt[]>>();
  for (const config of virtualServices) {
    const written = (config.spec.gateways ?? []).filter((name) => name !== "mesh");
    const places = new Set(written.map((name) => gatewayName(name, config.meta.namespace)));
    for (const place of isMeshBound(config) ? [...places, "mesh"] : places) {
      const hosts = all.get(place) ?? new Map<string, HostedAt[]>();
      all.set(place, hosts);
      for (const [index, host] of config.spec.hosts.entries()) {
        const known = hosts.get(host);
        if (known === undefined) hosts.set(host, [{ config, host, index }]);
        else known.push({ config, host, index });
      }
    }
  }
  return all;
}

/** Envoy takes the most exact domain of a request's host, and never looks at another one afterwards. */
const hiddenWildcards: Analyzer = {
  name: "portolan.HiddenWildcardAnalyzer",
  about: "paths of a wildcard host are not lost to a more exact host",
  *analyze(analysis) {
    const told = new Set<string>();
    for (const hosts of hostsByGateway(analysis).values()) {
      for (const [wildcard, wide] of hosts) {
        if (!isWildcard(wildcard)) continue;
        for (const [host, exact] of hosts) {
          if (host === wildcard || !isSubsetHost(host, wildcard)) continue;
          for (const one of wide) yield* hiddenPaths(one, host, exact, told);
        }
      }
    }
  },
};

/** Paths that a message names. */
const maxNamed = 3;

function* hiddenPaths(
  { config, host: wildcard, index }: HostedAt,
  host: string,
  exact: readonly HostedAt[],
  told: Set<string>,
): Generator<Diagnostic> {
  const others = exact.filter((other) => other.config !== config && isSeen(config, other.config));
  const [first] = others;
  if (first === undefined || exact.some((other) => other.config === config)) return;
  const taken = others.flatMap(({ config: { spec } }) => (spec.http ?? []).flatMap(pathsOf));
  const lost = (config.spec.http ?? []).flatMap(pathsOf).filter((path) => !taken.some((other) => covers(other, path)));
  // Who answers every path means to; and a rule for everything, of every host, is what is left over for all hosts without rules.
  if (taken.length === 0 || lost.length === 0 || (wildcard === "*" && lost.every(({ text }) => text === "/"))) return;
  const key = `${config.meta.namespace}/${config.meta.name} ${index} ${host}`;
  if (told.has(key)) return;
  told.add(key);
  const { namespace, name } = first.config.meta;
  const named = lost.slice(0, maxNamed).map(({ text }) => text);
  const paths = `${named.join(", ")}${lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ""}`;
  const message = `requests for ${host} never come to ${JSON.stringify(wildcard)}, since VirtualService ${namespace}/${name} has this host: ${paths} of it get 404`;
  yield found("wildcard-host-hidden", config, ["spec", "hosts", index], message, `repeat these rules for ${host}`);
}

/** Two objects of different namespaces may not see each other where one is exported to its own alone. */
function isSeen(a: Config<VirtualService>, b: Config<VirtualService>): boolean {
  const isPrivate = ({ spec }: Config<VirtualService>) => spec.exportTo !== undefined && !spec.exportTo.includes("*");
  return a.meta.namespace === b.meta.namespace || (!isPrivate(a) && !isPrivate(b));
}

interface TakenPath {
  readonly kind: "prefix" | "exact" | "regex";
  readonly text: string;
}

function pathsOf({ match = [] }: HTTPRoute): readonly TakenPath[] {
  if (match.length === 0) return [{ kind: "prefix", text: "/" }];
  return match.map(({ uri }): TakenPath => {
    if (uri?.exact !== undefined) return { kind: "exact", text: uri.exact };
    if (uri?.regex !== undefined) return { kind: "regex", text: uri.regex };
    return { kind: "prefix", text: uri?.prefix ?? "/" };
  });
}

/** Whether one takes what another takes, as far as their paths alone say: a regular expression may take anything. */
function covers(wide: TakenPath, { kind, text }: TakenPath): boolean {
  if (wide.kind === "regex") return true;
  if (wide.kind === "exact") return kind === "exact" && text === wide.text;
  return wide.text === "/" || (kind !== "regex" && text.startsWith(wide.text));
}

/** A server with the host in it, at a Gateway. */
interface ServerAt {
  readonly gateway: Config<Gateway>;
  readonly server: Server;
  readonly index: number;
}

const serversOf = (gateway: Config<Gateway>): readonly ServerAt[] =>
  gateway.spec.servers.map((server, index) => ({ gateway, server, index }));

/** Without the namespace in front. */
const plainHosts = ({ hosts }: Server): readonly string[] => hosts.map((host) => host.split("/").at(-1) ?? "");

/** A server that ends TLS and speaks HTTP: browsers send requests for several hosts over one of its connections. */
const endsTls = ({ tls, port }: Server): boolean =>
  port.protocol.toUpperCase() === "HTTPS" && tls?.mode !== "PASSTHROUGH" && tls?.mode !== "AUTO_PASSTHROUGH";

/** HTTP/2 lets a client use one connection for every host that the certificate of the first one is for. */
const reusedConnections: Analyzer = {
  name: "portolan.ReusedConnectionAnalyzer",
  about: "hosts that a certificate is for as well are served by the connection that it opened",
  *analyze({ gateways }) {
    const ending = gateways.flatMap(serversOf).filter(({ server }) => endsTls(server));
    const bySelector = Map.groupBy(
      ending,
      ({ gateway, server }) => `${server.port.number} ${canonicalJson(gateway.spec.selector ?? {})}`,
    );
    for (const together of bySelector.values()) {
      for (const one of together) yield* reuseOf(one, together);
    }
  },
};

function* reuseOf(one: ServerAt, together: readonly ServerAt[]): Generator<Diagnostic> {
  const { gateway, server, index } = one;
  const path = ["spec", "servers", index, "hosts"];
  const hint = "serve these hosts by one server, or give each a certificate for its own names alone";
  const credential = server.tls?.credentialName;
  // Of two Gateways that share one, IST0138 tells.
  const shared = together.find(
    (other) =>
      other.gateway === gateway &&
      other.index > index &&
      credential !== undefined &&
      other.server.tls?.credentialName === credential,
  );
  if (shared !== undefined) {
    const message = `${plainHosts(server)[0]} and ${plainHosts(shared.server)[0]} share the certificate ${credential} in two servers: a client that reuses its HTTP/2 connection for the other host gets 404`;
    yield found("connection-reuse", gateway, path, message, hint);
    return;
  }
  const others = together.filter((other) => other !== one).map((other) => other.server);
  const [wildcard, exact] = wildcardOver(server, others) ?? [];
  if (wildcard === undefined || exact === undefined) return;
  const message = `a certificate for ${wildcard} is one for ${exact} too, which another server has: a client that reuses its HTTP/2 connection for ${exact} gets the answer of this server, or 404`;
  yield found("connection-reuse", gateway, path, message, hint);
}

/** A wildcard of a server and the host of another one that its certificate is for: one label in place of the star. */
function wildcardOver(server: Server, others: readonly Server[]): readonly [string, string] | undefined {
  for (const wildcard of plainHosts(server)) {
    if (!wildcard.startsWith("*.")) continue;
    for (const host of others.flatMap(plainHosts)) {
      if (isWildcard(host) || !host.endsWith(wildcard.slice(1))) continue;
      if (!host.slice(0, host.length - wildcard.length + 1).includes(".")) return [wildcard, host];
    }
  }
  return undefined;
}

/** If one server of a port asks for the redirect for a host, the port redirects every path of this host. */
const onlyRedirected: Analyzer = {
  name: "portolan.OnlyRedirectedAnalyzer",
  about: "rules for plain HTTP are not hidden by httpsRedirect",
  *analyze(analysis) {
    const all = analysis.gateways.flatMap(serversOf);
    const redirecting = all.filter(
      ({ server }) => isHttpProtocol(server.port.protocol) && server.tls?.httpsRedirect === true,
    );
    if (redirecting.length === 0) return;
    for (const config of analysis.virtualServices) {
      if (config.spec.http === undefined || isMeshBound(config)) continue;
      const bound = (config.spec.gateways ?? []).flatMap((name) => {
        const gateway = analysis.gatewayNamed(gatewayName(name, config.meta.namespace));
        return gateway === undefined ? [] : [gateway];
      });
      yield* redirectedRoutes(config, bound.flatMap(serversOf), redirecting, analysis);
    }
    yield* redirectedIngresses(analysis, redirecting);
  },
};

function* redirectedRoutes(
  config: Config<VirtualService>,
  bound: readonly ServerAt[],
  redirecting: readonly ServerAt[],
  analysis: Analysis,
): Generator<Diagnostic> {
  for (const [index, host] of config.spec.hosts.entries()) {
    const mine = bound.filter(({ server }) => plainHosts(server).some((other) => hostsOverlap(host, other)));
    if (mine.length === 0) continue;
    const byPort = mine.map((one) => redirecting.find((other) => redirects(other, one, host, analysis)));
    if (byPort.every((one) => one !== undefined)) {
      yield onlyRedirect(config, ["spec", "hosts", index], host, byPort[0]);
      continue;
    }
    // Rules for a port that redirects say that they are meant to answer there.
    for (const [at, { match = [] }] of (config.spec.http ?? []).entries()) {
      const ports = match.map(({ port }) => port);
      const hidden = (port: number | undefined) =>
        mine.some(({ server }, place) => server.port.number === port && byPort[place] !== undefined);
      if (ports.length === 0 || !ports.every(hidden)) continue;
      yield onlyRedirect(
        config,
        ["spec", "http", at],
        host,
        byPort.find((one) => one !== undefined),
      );
    }
  }
}

function redirects(other: ServerAt, one: ServerAt, host: string, analysis: Analysis): boolean {
  return (
    other.server.port.number === one.server.port.number &&
    plainHosts(other.server).some((name) => isSubsetHost(host, name)) &&
    (other.gateway === one.gateway || sameWorkload(other.gateway, one.gateway, analysis))
  );
}

function onlyRedirect(
  config: Config,
  path: readonly (string | number)[],
  host: string,
  by: ServerAt | undefined,
): Diagnostic {
  const { namespace = "", name = "" } = by?.gateway.meta ?? {};
  const message = `every path of ${host} on port ${by?.server.port.number} is redirected to HTTPS, since Gateway ${namespace}/${name} asks for httpsRedirect in servers[${by?.index}]: these rules answer nothing`;
  const hint =
    "remove httpsRedirect, and add a redirect rule to the host's VirtualService after the rules of these paths";
  return found("paths-only-redirected", config, path, message, hint);
}

/** Of an Ingress, which stands for a server of port 80, and of port 443 for the hosts of its `tls`. */
interface IngressSpec {
  readonly rules?: readonly { readonly host?: string; readonly http?: object }[];
  readonly tls?: readonly { readonly hosts?: readonly string[] }[];
}

function* redirectedIngresses(analysis: Analysis, redirecting: readonly ServerAt[]): Generator<Diagnostic> {
  const { ingressSelector, ingressService } = analysis.meshConfig;
  const label =
    ingressSelector || (ingressService === "istio-ingressgateway" ? "" : ingressService) || "ingressgateway";
  const mine = redirecting.filter(
    ({ gateway, server }) => server.port.number === 80 && gateway.spec.selector?.istio === label,
  );
  if (mine.length === 0) return;
  for (const config of analysis.ofKind<IngressSpec>("Ingress")) {
    const encrypted = (config.spec.tls ?? []).flatMap(({ hosts = ["*"] }) => hosts);
    for (const [index, { host = "*", http }] of (config.spec.rules ?? []).entries()) {
      if (http === undefined || encrypted.some((name) => isSubsetHost(host, name))) continue;
      const by = mine.find(({ server }) => plainHosts(server).some((name) => isSubsetHost(host, name)));
      if (by !== undefined) yield onlyRedirect(config, ["spec", "rules", index], host, by);
    }
  }
}

export const hiddenHostAnalyzers: readonly Analyzer[] = [hiddenWildcards, onlyRedirected, reusedConnections];
