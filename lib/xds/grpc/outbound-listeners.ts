import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { type AddressPerspective, serviceAddress, serviceAddresses } from "../../mesh/hosts/service-address.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import { packAny } from "../core-messages.ts";
import { additionalAddresses, envoyAddress } from "../listeners/bind.ts";
import { outboundClusterName, targetListenerName } from "../names.ts";
import { originKeys } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { faultFilter } from "../routes/actions/fault.ts";
import { connectionManager, routerFilter } from "./connection-manager.ts";
import { targetNames } from "./target-names.ts";

type Listeners = readonly Resource<ListenerJson>[];

/** The listeners of one service, by the names that lead to them. */
export interface Targets {
  /** By the whole host name. */
  readonly full: Listeners;
  readonly short: Listeners;
}

/**
 * What a program finds behind a target: for each name and port of a service a listener that says where its routes are. Ports of all protocols
 * have one; the table of a port that is not HTTP is empty.
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/lds.go, buildOutboundListeners
 */
export function outboundListeners(service: Service, proxy: ClassProxy, memo: Memo): Targets {
  const { clusterId, ipMode, autoAllocatedAddresses } = proxy;
  const seen = { service, clusterId, ipMode, autoAllocatedAddresses };
  const [full, ...short] = targetNames(service.hostname, proxy);
  return {
    full: listenersOf(memo, { ...seen, names: [full] }),
    short: short.length === 0 ? noListeners : listenersOf(memo, { ...seen, names: short }),
  };
}

const noListeners: Listeners = [];

interface Inputs extends AddressPerspective {
  readonly service: Service;
  readonly names: readonly string[];
}

/** By what programs of other namespaces have in common, which is all but the short names. */
const listenersOf = query(
  "gRPC listeners of a service",
  { names: "value" },
  ({ service, names, ...perspective }: Inputs): Listeners => {
    const from = originKeys(service);
    return [...new Set(service.ports.map(({ port }) => port))].flatMap((port) => {
      const rest: Omit<ListenerJson, "name"> = {
        address: envoyAddress(serviceAddress(service, perspective), port),
        ...additionalAddresses(serviceAddresses(service, perspective).slice(1), port),
        apiListener: { apiListener: connectionManager(outboundManager(service.hostname, port)) },
      };
      return names.map((target) => {
        const name = targetListenerName(target, port);
        return { name, json: { name, ...rest }, from };
      });
    });
  },
);

const fault = {
  name: faultFilter,
  typedConfig: packAny("envoy.extensions.filters.http.fault.v3.HTTPFault", {}),
};

function outboundManager(hostname: string, port: number): HttpConnectionManagerJson {
  return {
    rds: { configSource: { ads: {} }, routeConfigName: outboundClusterName(port, "", hostname) },
    httpFilters: [fault, routerFilter],
  };
}
