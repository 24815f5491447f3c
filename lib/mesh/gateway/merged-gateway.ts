/**
 * All Gateways of one gateway workload as one.
 * @see docs/how-istio-does-it/gateways.md
 * @see istio 1.30.3 pilot/pkg/model/gateway.go
 */

import { byCodePoint, type ConfigKey, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import { type Config, keyOf, writtenPath } from "../../config/config.ts";
import type { Gateway, Server } from "../../config/kinds/gateway.ts";
import { lazily } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { ServiceTarget } from "../../registry/service.ts";
import { boundServices, isBoundTo, noBound } from "./bound-services.ts";
import {
  gatewayRouteName,
  isHttpProtocol,
  isHttpServer,
  isTlsServer,
  parseGatewayRouteName,
  sanitisedHosts,
} from "./gateway-port.ts";

/** All Gateways that apply to one gateway workload, merged. */
export interface MergedGateway {
  /** Every Gateway that applies, oldest first. */
  readonly from: readonly ConfigKey[];
  readonly serverPorts: readonly ServerPort[];
  /** Parallel to `serverPorts`. */
  readonly mergedServers: readonly MergedServers[];
  /** Route name → its servers, in order. */
  readonly serversByRouteName: ReadonlyMap<string, readonly GatewayServer[]>;
  /** Port in the name of a route table (`parseGatewayRouteName`) → ports that its servers declare. */
  portMap(): ReadonlyMap<number, ReadonlySet<number>>;
  /** Some server passes mesh mTLS on by its server name, be it one that has no place on its port: clusters follow from this alone. */
  readonly containsAutoPassthrough: boolean;
}

export interface ServerPort {
  /** Port the workload listens on. */
  readonly number: number;
  readonly protocol: string;
  readonly bind: string;
}

export interface MergedServers {
  readonly servers: readonly GatewayServer[];
  /** "" where the servers have no RDS. */
  readonly routeName: string;
}

/** One server of one Gateway. */
export interface GatewayServer {
  /** Hosts sanitised; it keeps its identity as long as the Gateway does. */
  readonly server: Server;
  readonly gateway: Config<Gateway>;
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly gatewayName: string;
  /** "" for non-HTTP servers. */
  readonly routeName: string;
}

interface Entry {
  readonly port: ServerPort;
  readonly servers: GatewayServer[];
  routeName: string;
}

/** What is known while servers are added one after the other. */
interface Merge {
  readonly entries: Map<string, Entry>;
  /** Workload ports that some server is on. */
  readonly usedPorts: Set<number>;
  /** Workload port → the latest server without TLS. */
  readonly plaintext: Map<number, ServerPort>;
  /** Workload port → host → the latest bind that serves it with TLS. */
  readonly tlsHosts: Map<number, Map<string, string>>;
  readonly byRouteName: Map<string, GatewayServer[]>;
  readonly diagnostics: Diagnostic[];
  containsAutoPassthrough: boolean;
}

/** @param gateways those that apply, oldest first: of servers that clash the first stays */
export function mergeGateways(
  gateways: readonly Config<Gateway>[],
  translations: readonly PortTranslation[],
  memo: Memo,
): Stage<MergedGateway> {
  const merge: Merge = {
    entries: new Map(),
    usedPorts: new Set(),
    plaintext: new Map(),
    tlsHosts: new Map(),
    byRouteName: new Map(),
    diagnostics: [],
    containsAutoPassthrough: false,
  };
  for (const gateway of gateways) {
    const source = { gateway, key: keyOf(gateway), gatewayName: `${gateway.meta.namespace}/${gateway.meta.name}` };
    for (const [at, server] of serversOf(memo, gateway).entries()) {
      for (const port of workloadPorts(server.port.number, gateway, translations)) {
        addServer(merge, source, server, at, port);
      }
    }
  }
  const entries = [...merge.entries.values()];
  return {
    value: {
      from: gateways.map(keyOf),
      serverPorts: entries.map((entry) => entry.port),
      mergedServers: entries.map(({ servers, routeName }): MergedServers => ({ servers, routeName })),
      serversByRouteName: merge.byRouteName,
      portMap: lazily(() => declaredPorts(merge.byRouteName)),
      containsAutoPassthrough: merge.containsAutoPassthrough,
    },
    diagnostics: merge.diagnostics,
  };
}

/** The servers of a gateway, with their hosts as the whole mesh calls them: the same objects as long as the Gateway is. */
function serversOf(memo: Memo, gateway: Config<Gateway>): readonly Server[] {
  const { spec, meta } = gateway;
  const isWritten = spec.servers.every(({ hosts }) => sanitisedHosts(hosts, meta.namespace) === hosts);
  return isWritten ? spec.servers : sanitisedServers(memo, { gateway });
}

const sanitisedServers = query(
  "servers of a gateway",
  ({ gateway: { spec, meta } }: { readonly gateway: Config<Gateway> }): readonly Server[] =>
    spec.servers.map((written) => {
      const hosts = sanitisedHosts(written.hosts, meta.namespace);
      return hosts === written.hosts ? written : { ...written, hosts };
    }),
);

function addServer(
  merge: Merge,
  source: Pick<GatewayServer, "gateway" | "key" | "gatewayName">,
  server: Server,
  at: number,
  number: number,
): void {
  const { gateway } = source;
  const { name, namespace } = gateway.meta;
  const added: GatewayServer = {
    ...source,
    server,
    routeName: gatewayRouteName(server, number, name, namespace),
  };
  const port: ServerPort = { number, protocol: server.port.protocol, bind: server.bind ?? "" };
  const refusal = duplicateHosts(merge, server, port) ?? place(merge, added, port);
  if (refusal === undefined) return;
  merge.diagnostics.push({
    code: refusal.code,
    severity: "error",
    origin: gateway.origin,
    path: writtenPath(gateway, ["spec", "servers", at, ...refusal.path]),
    message: `${refusal.message}; the server is left out`,
    hint: refusal.hint,
  });
}

type Refusal = Pick<Diagnostic, "code" | "path" | "message" | "hint">;

/** A port of a service in front of a gateway workload, and the port that the workload listens on for it. */
export interface PortTranslation {
  readonly port: number;
  readonly targetPort: number;
  /** Of Gateways for services: `namespace/host` of the one that it holds for. Absent: it holds for all others. */
  readonly service?: string;
}

/** The translations of the ports that servers of these Gateways declare; a service may be labelled to have none. */
export function portTranslations(
  gateways: readonly Config<Gateway>[],
  targets: readonly ServiceTarget[],
): readonly PortTranslation[] {
  const bound = gateways.filter((gateway) => boundServices(gateway) !== undefined);
  const selecting = bound.length === 0 ? gateways : gateways.filter((gateway) => !bound.includes(gateway));
  return [...selectedTranslations(selecting, targets), ...boundTranslations(bound, targets)];
}

function selectedTranslations(
  gateways: readonly Config<Gateway>[],
  targets: readonly ServiceTarget[],
): readonly PortTranslation[] {
  const declared = declaredBy(gateways);
  const first = new Map<number, number>();
  for (const { service, servicePort, targetPort } of targets) {
    if (!declared.has(servicePort.port) || first.has(servicePort.port)) continue;
    if (!("experimental.istio.io/disable-gateway-port-translation" in service.attributes.labels)) {
      first.set(servicePort.port, targetPort);
    }
  }
  return [...first].map(([port, targetPort]) => ({ port, targetPort })).sort((a, b) => a.port - b.port);
}

/** A port that a service names is meant as it is, so it stands for all that the workload listens on for it. */
function boundTranslations(
  gateways: readonly Config<Gateway>[],
  targets: readonly ServiceTarget[],
): readonly PortTranslation[] {
  if (gateways.length === 0) return [];
  const declared = declaredBy(gateways);
  const found = targets.filter(({ service, servicePort }) => {
    return (
      declared.has(servicePort.port) &&
      gateways.some((gateway) => isBoundTo(boundServices(gateway) ?? noBound, service))
    );
  });
  return found
    .map(({ service, servicePort, targetPort }) => ({
      port: servicePort.port,
      targetPort,
      service: `${service.attributes.namespace}/${service.hostname}`,
    }))
    .sort((a, b) => byCodePoint(a.service, b.service) || a.port - b.port || a.targetPort - b.targetPort);
}

const declaredBy = (gateways: readonly Config<Gateway>[]): ReadonlySet<number> =>
  new Set(gateways.flatMap(({ spec }) => spec.servers.map((server) => server.port.number)));

/**
 * The ports that the workload listens on for a port of its services. Where no service has it, that is the number itself, but
 * nothing for a Gateway that is for services.
 */
function workloadPorts(
  declared: number,
  gateway: Config<Gateway>,
  translations: readonly PortTranslation[],
): readonly number[] {
  const bound = boundServices(gateway);
  const fitting = translations.filter(({ port, service }) => {
    if (port !== declared || (service === undefined) !== (bound === undefined)) return false;
    return bound === undefined || bound.names.has(service ?? "");
  });
  if (bound !== undefined) return [...new Set(fitting.map(({ targetPort }) => targetPort))].sort((a, b) => a - b);
  return [fitting[0]?.targetPort ?? declared];
}

/** Hosts with TLS become SNI matches, which Envoy wants only once in a listener: one duplicate refuses the whole server. */
function duplicateHosts(merge: Merge, server: Server, port: ServerPort): Refusal | undefined {
  if (server.tls === undefined) return undefined;
  const known = merge.tlsHosts.get(port.number) ?? new Map<string, string>();
  merge.tlsHosts.set(port.number, known);
  const duplicate = server.hosts.find((host) => known.get(host) === port.bind);
  if (duplicate !== undefined) {
    return {
      code: "gateway-duplicate-host",
      path: ["hosts"],
      message: `host ${duplicate} is served with TLS on port ${port.number} by an older server already`,
      hint: "name each host in one server of a port",
    };
  }
  for (const host of server.hosts) known.set(host, port.bind);
  if (server.tls.mode === "AUTO_PASSTHROUGH") merge.containsAutoPassthrough = true;
  return undefined;
}

const keyOfPort = (port: ServerPort): string => `${port.number}|${port.protocol}|${port.bind}`;

/** Puts a server beside the others of its port, or says why it cannot be there. */
function place(merge: Merge, added: GatewayServer, port: ServerPort): Refusal | undefined {
  const used = merge.usedPorts.has(port.number);
  merge.usedPorts.add(port.number);
  const plain = merge.plaintext.get(port.number);
  if (!used || (plain === undefined && !isTlsServer(added.server))) {
    start(merge, added, port);
    return undefined;
  }
  return plain === undefined ? placeBesideTls(merge, added, port) : placeBesidePlaintext(merge, added, port, plain);
}

function placeBesidePlaintext(
  merge: Merge,
  added: GatewayServer,
  port: ServerPort,
  plain: ServerPort,
): Refusal | undefined {
  if (plain.bind !== port.bind) {
    const entry = merge.entries.get(keyOfPort(port));
    if (entry === undefined) start(merge, added, port);
    else {
      entry.routeName = added.routeName;
      entry.servers.push(added);
      register(merge, added);
    }
    return undefined;
  }
  if (!isHttpProtocol(port.protocol) || !isHttpProtocol(plain.protocol)) {
    return {
      code: "gateway-port-conflict",
      path: ["port"],
      message: `protocol ${port.protocol} cannot share port ${port.number} with an older ${plain.protocol} server`,
      hint: "use another port or another bind address",
    };
  }
  register(merge, added);
  merge.entries.get(keyOfPort(plain))?.servers.push(added);
  return undefined;
}

/** Servers with TLS share a port, told apart by SNI; each HTTPS server has a route table of its own. */
function placeBesideTls(merge: Merge, added: GatewayServer, port: ServerPort): Refusal | undefined {
  if (isHttpServer(added.server)) {
    if (merge.byRouteName.has(added.routeName)) {
      return {
        code: "gateway-duplicate-port-name",
        path: ["port", "name"],
        message: `another HTTPS server of this Gateway has port name ${added.server.port.name}`,
        hint: "give each HTTPS server a port name of its own",
      };
    }
    register(merge, added);
  }
  const entry = merge.entries.get(keyOfPort(port));
  if (entry === undefined) merge.entries.set(keyOfPort(port), { port, servers: [added], routeName: added.routeName });
  else entry.servers.push(added);
  return undefined;
}

/** The first server of a port, protocol and bind; one without TLS takes the place of any before it. */
function start(merge: Merge, added: GatewayServer, port: ServerPort): void {
  if (!isTlsServer(added.server)) merge.plaintext.set(port.number, port);
  if (isHttpServer(added.server)) merge.byRouteName.set(added.routeName, [added]);
  merge.entries.set(keyOfPort(port), { port, servers: [added], routeName: added.routeName });
}

function register(merge: Merge, added: GatewayServer): void {
  if (added.routeName === "") return;
  const servers = merge.byRouteName.get(added.routeName);
  if (servers === undefined) merge.byRouteName.set(added.routeName, [added]);
  else servers.push(added);
}

/** Port in the name of a route table → ports that its servers declare. */
function declaredPorts(
  byRouteName: ReadonlyMap<string, readonly GatewayServer[]>,
): ReadonlyMap<number, ReadonlySet<number>> {
  const ports = new Map<number, Set<number>>();
  for (const [name, servers] of byRouteName) {
    const { port } = parseGatewayRouteName(name);
    const declared = ports.get(port) ?? new Set<number>();
    ports.set(port, declared);
    for (const { server } of servers) declared.add(server.port.number);
  }
  return ports;
}
