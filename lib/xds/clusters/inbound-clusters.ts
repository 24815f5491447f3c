import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ConnectionPoolSettings } from "../../config/kinds/destination-rule.ts";
import type { IstioIngressListener, Sidecar } from "../../config/kinds/sidecar.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { ClassProxy, OwnClusterView, ServedView } from "../../mesh/views/views.ts";
import { parseProtocol } from "../../registry/protocol.ts";
import type { Service, ServicePort, ServiceTarget } from "../../registry/service.ts";
import { altStatName, inboundClusterName, statName } from "../names.ts";
import { originKeys } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { magicBind } from "./built-in-clusters.ts";
import type { ClusterClass } from "./cluster-class.ts";
import { circuitBreakers, connectionOptions } from "./connection-pool.ts";
import { httpOptions, upstreamHttp } from "./http-options.ts";
import { type InboundEndpoint, loopback, readDefaultEndpoint } from "./inbound-endpoint.ts";
import { clusterMetadata } from "./metadata.ts";
import { effectivePolicy } from "./traffic-policy.ts";

type Inbound = OwnClusterView["inbound"];

/** One port of the workload. */
interface InboundPort {
  /** In the cluster's name: where the workload listens, or the number of a Sidecar's listener. */
  readonly port: number;
  readonly servicePort: ServicePort;
  /** Services behind the port, the leading one first; none for a listener that only a Sidecar declares. */
  readonly services: readonly Service[];
  readonly endpoint: InboundEndpoint;
}

type ClusterResource = Resource<ClusterJson>;

/** Longer than anything runs: Envoy would forget original destinations that are quiet. */
const never = "9223372035s";

interface InboundInputs extends Pick<ClassProxy, "interceptionMode"> {
  readonly inbound: Inbound;
  readonly proxies: ClusterClass;
}

/**
 * One cluster for each port of the workload; those that a Sidecar declares take the place of the services'. Without
 * interception nothing reaches the proxy but what a Sidecar declares.
 *
 * @see docs/how-istio-does-it/clusters.md#inbound-clusters
 */
export const inboundClusters = query(
  "inbound clusters",
  (inputs: InboundInputs, memo: Memo): readonly ClusterResource[] => {
    const { inbound, proxies } = inputs;
    const { sidecar } = inbound.scope;
    return inboundPorts(inputs).map((port) =>
      inboundCluster(memo, { ...port, proxies, sidecar, rule: ruleOf(port, inbound) }),
    );
  },
);

interface Inputs extends InboundPort {
  readonly proxies: ClusterClass;
  readonly sidecar: ServedView["scope"]["sidecar"];
  readonly rule: MeshDestinationRule | undefined;
}

/** The leading service's rule, where it has a policy. */
function ruleOf(port: InboundPort, inbound: Inbound): MeshDestinationRule | undefined {
  const [leading] = port.services;
  const rule = leading === undefined ? undefined : inbound.destinationRule(leading);
  return rule?.config.spec.trafficPolicy === undefined ? undefined : rule;
}

function inboundPorts({ inbound, proxies, interceptionMode }: InboundInputs): readonly InboundPort[] {
  if (inbound.ingressListeners.length > 0) {
    return inbound.ingressListeners.map((listener) => declaredPort(listener, inbound));
  }
  if (interceptionMode === "NONE") return [];
  const byPort = new Map<number, ServiceTarget[]>();
  for (const target of inbound.targets) {
    const targets = byPort.get(target.targetPort);
    if (targets === undefined) byPort.set(target.targetPort, [target]);
    else targets.push(target);
  }
  const local = proxies.mesh.inboundTrafficPolicy?.mode === "LOCALHOST";
  return [...byPort].flatMap(([port, targets]) => {
    const [first] = targets;
    if (first === undefined) return [];
    const same = targets.filter((target) => target.servicePort.port === first.servicePort.port);
    return {
      port,
      servicePort: first.servicePort,
      services: uniqueServices(same),
      endpoint: local ? loopback(proxies.ipMode === "IPv6" ? "IPv6" : "IPv4", port) : { kind: "original" },
    };
  });
}

function uniqueServices(targets: readonly ServiceTarget[]): readonly Service[] {
  return [...new Map(targets.map(({ service }) => [service.hostname, service])).values()];
}

function declaredPort(listener: IstioIngressListener, inbound: ServedView): InboundPort {
  const port = listener.port.number ?? 0;
  const target = inbound.targets.find((candidate) => candidate.targetPort === port);
  return {
    port,
    servicePort: { name: listener.port.name ?? "", port, protocol: parseProtocol(listener.port.protocol ?? "") },
    services: target === undefined ? [] : [target.service],
    endpoint: readDefaultEndpoint(listener.defaultEndpoint ?? "", inbound.ownAddresses),
  };
}

/** A Sidecar's own connection pool for a port: that of its listener, else that of the Sidecar. */
function sidecarPool(sidecar: Sidecar | undefined, port: number): ConnectionPoolSettings | undefined {
  const listener = sidecar?.ingress?.find(
    (candidate) => candidate.port.number === port && candidate.connectionPool !== undefined,
  );
  return listener?.connectionPool ?? sidecar?.inboundConnectionPool;
}

const inboundCluster = query(
  "inbound cluster",
  { services: "elements", servicePort: "value", endpoint: "value" },
  buildInbound,
);

/** Nothing runs behind a gateway in its own pod. */
const inboundProxy = { proxyType: "sidecar" } as const;

function buildInbound({ proxies, sidecar, rule, ...port }: Inputs): ClusterResource {
  const { mesh } = proxies;
  const [leading] = port.services;
  const policy = effectivePolicy(rule, "", port.servicePort.port, mesh.defaultTrafficPolicy);
  const pool = sidecarPool(sidecar?.spec, port.port) ?? policy?.connectionPool;
  const http = upstreamHttp(inboundProxy, {
    protocol: port.servicePort.protocol,
    pool,
    preserveHeaderCase: proxies.preserveHeaderCase,
    upgradeBy: undefined,
  });
  const name = inboundClusterName(port.port);
  const metadata =
    leading === undefined || leading.meshExternal
      ? undefined
      : clusterMetadata({ services: port.services, rule, subset: "", external: false, originatesTls: false });
  const json = {
    name,
    altStatName: altStatNameOf(port, leading, mesh.inboundClusterStatName),
    ...endpointJson(name, port.endpoint),
    connectTimeout: pool?.tcp?.connectTimeout ?? mesh.connectTimeout,
    commonLbConfig: {},
    circuitBreakers: circuitBreakers(pool, policy?.retryBudget),
    ...connectionOptions(mesh, pool?.tcp?.tcpKeepalive),
    ...httpOptions(http, undefined),
    ...(port.endpoint.kind === "loopback" ? {} : { upstreamBindConfig: magicBind(proxies.ipMode) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  return { name, json, from: [...port.services.flatMap(originKeys), ...(rule?.from ?? [])] };
}

function endpointJson(name: string, endpoint: InboundEndpoint): ClusterJson {
  if (endpoint.kind === "original") {
    return { type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED", cleanupInterval: never };
  }
  return {
    type: "STATIC",
    loadAssignment: {
      clusterName: name,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: endpoint.address } }] }],
    },
  };
}

function altStatNameOf(port: InboundPort, leading: Service | undefined, pattern: string): string {
  if (pattern === "") return altStatName(inboundClusterName(port.port));
  return altStatName(
    statName(pattern, {
      hostname: leading?.hostname ?? "",
      subset: "",
      port: port.servicePort.port,
      portName: port.servicePort.name,
      targetPort: port.port,
      service: leading,
    }),
  );
}
