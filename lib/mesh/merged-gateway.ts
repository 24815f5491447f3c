/**
 * All Gateways of one gateway workload as one.
 * @see Istio 1.30 `pilot/pkg/model/gateway.go`; model-push 7
 */
import { type Config, keyOf } from "../config/config.ts";
import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import type { Gateway, Server } from "../config/kinds/gateway.ts";
import type { ServiceTarget } from "../registry/service.ts";
import {
  gatewayRouteName,
  isHttpProtocol,
  isHttpServer,
  isTlsServer,
  sanitisedHosts,
  sniHostsOf,
} from "./gateway-port.ts";
import { type Labels, selects } from "./label-selector.ts";
import type { GatewayServer, MergedGateway, MergedServers, ServerPort } from "./mesh.ts";

/** Gateways whose selector is part of the workload's labels, or that have none; in the order given. */
export function gatewaysFor(gateways: readonly Config<Gateway>[], labels: Labels): readonly Config<Gateway>[] {
  return gateways.filter((gateway) => selects(gateway.spec.selector ?? {}, labels));
}

interface Entry {
  readonly port: ServerPort;
  readonly servers: GatewayServer[];
  readonly routeName: string;
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
  readonly tlsBinds: Map<number, Set<string>>;
  readonly byRouteName: Map<string, GatewayServer[]>;
  readonly declaredPorts: Map<number, Set<number>>;
  readonly diagnostics: Diagnostic[];
}

/** @param gateways those that apply, oldest first: of servers that clash the first stays */
export function mergeGateways(
  gateways: readonly Config<Gateway>[],
  targets: readonly ServiceTarget[],
): Stage<MergedGateway> {
  const merge: Merge = {
    entries: new Map(),
    usedPorts: new Set(),
    plaintext: new Map(),
    tlsHosts: new Map(),
    tlsBinds: new Map(),
    byRouteName: new Map(),
    declaredPorts: new Map(),
    diagnostics: [],
  };
  for (const gateway of gateways) {
    for (const [at, written] of gateway.spec.servers.entries()) addServer(merge, gateway, written, at, targets);
  }
  const entries = [...merge.entries.values()];
  const passthrough = entries
    .flatMap((entry) => entry.servers)
    .filter(({ server }) => server.tls?.mode === "AUTO_PASSTHROUGH");
  return {
    value: {
      from: gateways.map(keyOf),
      serverPorts: entries.map((entry) => entry.port),
      mergedServers: entries.map(({ servers, routeName }): MergedServers => ({ servers, routeName })),
      serversByRouteName: merge.byRouteName,
      portMap: merge.declaredPorts,
      containsAutoPassthrough: passthrough.length > 0,
      autoPassthroughSniHosts: new Set(passthrough.flatMap((server) => server.sniHosts)),
    },
    diagnostics: merge.diagnostics,
  };
}

function addServer(
  merge: Merge,
  gateway: Config<Gateway>,
  written: Server,
  at: number,
  targets: readonly ServiceTarget[],
): void {
  const { name, namespace } = gateway.meta;
  const number = workloadPort(written.port.number, targets);
  const server: Server = { ...written, hosts: sanitisedHosts(written.hosts, namespace) };
  const added: GatewayServer = {
    server,
    gateway,
    gatewayName: `${namespace}/${name}`,
    routeName: gatewayRouteName(server, number, name, namespace),
    sniHosts: sniHostsOf(server.hosts),
  };
  const port: ServerPort = { number, protocol: server.port.protocol, bind: server.bind ?? "" };
  const refusal = duplicateHosts(merge, server, port) ?? place(merge, added, port);
  if (refusal === undefined) return;
  merge.diagnostics.push({
    code: refusal.code,
    severity: "error",
    origin: gateway.origin,
    path: ["spec", "servers", at, ...refusal.path],
    message: `${refusal.message}; the server is left out`,
    hint: refusal.hint,
  });
}

type Refusal = Pick<Diagnostic, "code" | "path" | "message" | "hint">;

/** The port that the workload listens on for a port of its service; the number itself where no service has it. */
function workloadPort(declared: number, targets: readonly ServiceTarget[]): number {
  const target = targets.find(
    ({ service, servicePort }) =>
      servicePort.port === declared &&
      !("experimental.istio.io/disable-gateway-port-translation" in service.attributes.labels),
  );
  return target?.targetPort ?? declared;
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
  return undefined;
}

const keyOfPort = (port: ServerPort): string => `${port.number}|${port.protocol}|${port.bind}`;

/** Puts a server beside the others of its port, or says why it cannot be there. */
function place(merge: Merge, added: GatewayServer, port: ServerPort): Refusal | undefined {
  const declared = merge.declaredPorts.get(port.number) ?? new Set<number>();
  merge.declaredPorts.set(port.number, declared.add(added.server.port.number));
  const plain = !isTlsServer(added.server);
  const current = merge.plaintext.get(port.number);
  if (!merge.usedPorts.has(port.number)) {
    merge.usedPorts.add(port.number);
    if (plain) merge.plaintext.set(port.number, port);
    if (isHttpServer(added.server)) register(merge, added);
    enter(merge, added, port);
    return undefined;
  }
  if (current !== undefined) return placeBesidePlaintext(merge, added, port, current);
  return placeBesideTls(merge, added, port);
}

function placeBesidePlaintext(
  merge: Merge,
  added: GatewayServer,
  port: ServerPort,
  current: ServerPort,
): Refusal | undefined {
  if (current.bind !== port.bind) {
    if (!isTlsServer(added.server)) merge.plaintext.set(port.number, port);
    if (added.routeName !== "") register(merge, added);
    enter(merge, added, port);
    return undefined;
  }
  if (!isHttpProtocol(port.protocol) || !isHttpProtocol(current.protocol) || added.routeName === "") {
    return {
      code: "gateway-port-conflict",
      path: ["port"],
      message: `protocol ${port.protocol} cannot share port ${port.number} with an older ${current.protocol} server`,
      hint: "use another port or another bind address",
    };
  }
  register(merge, added);
  enter(merge, added, current);
  return undefined;
}

function placeBesideTls(merge: Merge, added: GatewayServer, port: ServerPort): Refusal | undefined {
  if (isHttpProtocol(port.protocol) || (added.server.tls === undefined && !isTlsProtocol(port.protocol))) {
    merge.plaintext.set(port.number, port);
    if (added.routeName !== "") register(merge, added);
    merge.entries.delete(keyOfPort(port));
    enter(merge, added, port);
    return undefined;
  }
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
  const binds = merge.tlsBinds.get(port.number) ?? new Set<string>();
  merge.tlsBinds.set(port.number, binds);
  if (added.server.tls === undefined && binds.has(port.bind)) {
    return {
      code: "gateway-server-without-tls",
      path: ["tls"],
      message: `protocol ${port.protocol} without TLS settings cannot share port ${port.number}`,
      hint: "say how TLS is handled",
    };
  }
  binds.add(port.bind);
  enter(merge, added, port);
  return undefined;
}

const isTlsProtocol = (protocol: string): boolean => ["HTTPS", "TLS"].includes(protocol.toUpperCase());

function register(merge: Merge, added: GatewayServer): void {
  const servers = merge.byRouteName.get(added.routeName);
  if (servers === undefined) merge.byRouteName.set(added.routeName, [added]);
  else servers.push(added);
}

function enter(merge: Merge, added: GatewayServer, port: ServerPort): void {
  const key = keyOfPort(port);
  const entry = merge.entries.get(key);
  if (entry === undefined) merge.entries.set(key, { port, servers: [added], routeName: added.routeName });
  else entry.servers.push(added);
}
