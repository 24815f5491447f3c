import type { NodeId } from "../../legacy/node-id.ts";
import { type BuiltCluster, localCluster } from "../clusters/clusters.ts";
import { virtualServiceServedBy } from "../compat/v1alpha3.ts";
import { inboundRoutesOf } from "../compat/virtual-service-routes.ts";
import { routeRulesServedBy } from "../config-store.ts";
import type { Listener, Route, RouteConfig } from "../documents.ts";
import { type LegacyInstance, type LegacyMesh, usesMixer } from "../legacy-world.ts";
import { inMemberOrder } from "../member-order.ts";
import { routeMatch } from "../routes/route-match.ts";
import { decoratorOf, defaultRoute } from "../routes/rule-route.ts";
import { effectivePolicy, inboundTls } from "./authentication.ts";
import { httpListener } from "./http-listener.ts";
import { mixerTcpFilter, routeMixerConfig } from "./mixer.ts";
import { type BuiltListener, isTcp, tcpListener, tcpRoute } from "./tcp-listeners.ts";

/** A workload, and what runs there. */
interface InboundContext {
  readonly world: LegacyMesh;
  readonly node: NodeId;
  readonly instances: readonly LegacyInstance[];
}

/**
 * One listener for each port that the workload serves, at its own address. A port of a protocol that cannot be proxied has a
 * cluster only.
 * @see docs/how-istio-does-it/legacy-v1.md#listeners
 */
export function inboundListeners(requestContext: InboundContext): readonly BuiltListener[] {
  const { world, instances } = requestContext;
  return instances.map((instance) => {
    const cluster = localCluster(instance.port, instance.servicePort.protocol, world.mesh.connectTimeoutMs);
    return { listener: inboundListener(instance, cluster, requestContext), clusters: [cluster] };
  });
}

function inboundListener(
  instance: LegacyInstance,
  cluster: BuiltCluster,
  requestContext: InboundContext,
): Listener | undefined {
  const { world } = requestContext;
  const listener = plainListener(instance, cluster, requestContext);
  const tls = inboundTls(effectivePolicy(world, instance.service.hostname, instance.servicePort));
  if (listener === undefined || tls === undefined) return listener;
  const { bind_to_port, ...head } = listener;
  return { ...head, ssl_context: tls, bind_to_port };
}

function plainListener(
  instance: LegacyInstance,
  cluster: BuiltCluster,
  requestContext: InboundContext,
): Listener | undefined {
  const { world, node, instances } = requestContext;
  const { protocol } = instance.servicePort;
  if (protocol === "HTTP" || protocol === "HTTP2" || protocol === "GRPC") {
    return httpListener(
      {
        ip: instance.address,
        port: instance.port,
        routes: inboundRoutes(instance, cluster, requestContext),
        outbound: false,
        operation: "ingress",
        useRemoteAddress: false,
        services: instances,
        policy: effectivePolicy(world, instance.service.hostname, instance.servicePort),
        faults: [],
        bindToPort: false,
      },
      world,
      node,
    );
  }
  if (!isTcp(protocol)) return undefined;
  const listener = tcpListener([tcpRoute(cluster, [instance.address])], instance.address, instance.port, protocol);
  if (!usesMixer(world.mesh)) return listener;
  return { ...listener, filters: [mixerTcpFilter(world, node, instance), ...listener.filters] };
}

/**
 * The inline table of an inbound connection manager. Rules for the workload's services are there for their matches only (and
 * for websockets and rewritten paths): everything goes to the workload.
 */
function inboundRoutes(
  instance: LegacyInstance,
  cluster: BuiltCluster,
  { world, node, instances }: InboundContext,
): RouteConfig {
  const opaque = usesMixer(world.mesh)
    ? { opaque_config: routeMixerConfig(world.mesh, instance.service.hostname, false) }
    : {};
  const rules = instance.servicePort.protocol === "HTTP" ? routeRulesServedBy(world.configs, instances) : [];
  const ruled = rules.map((rule): Route => {
    const { headers, ...path } = routeMatch(rule.spec.match);
    const rewritten = rule.spec.rewrite?.uri ?? "";
    const websocket = rule.spec.websocketUpgrade === true;
    return {
      ...(rewritten === "" ? path : { prefix: rewritten }),
      cluster: cluster.cluster.name,
      ...(headers === undefined ? {} : { headers }),
      timeout_ms: 0,
      ...opaque,
      ...(websocket ? { use_websocket: true } : decoratorOf(rule)),
    };
  });
  const virtualService =
    instance.servicePort.protocol === "HTTP"
      ? virtualServiceServedBy(world.v1alpha3, instances, node.domain)
      : undefined;
  const virtual = virtualService === undefined ? [] : inboundRoutesOf(virtualService, cluster.cluster.name);
  const routes = [
    ...ruled,
    ...virtual.map((route) => ({ ...route, ...opaque })),
    { ...defaultRoute(cluster).route, ...opaque },
  ].map(inMemberOrder);
  return {
    validate_clusters: true,
    virtual_hosts: [{ name: `inbound|${instance.port}`, domains: ["*"], routes }],
  };
}
