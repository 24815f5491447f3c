import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { byCodePoint, type Stage } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { GrpcListenerView } from "../../mesh/views/grpc-views.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import type { Resource } from "../resource.ts";
import { grpcAuthorization, openAuthorization } from "./authorization.ts";
import { inboundListeners, inboundNames } from "./inbound-listeners.ts";
import { outboundListeners, type Targets } from "./outbound-listeners.ts";

type Listeners = readonly Resource<ListenerJson>[];

/** Every listener that a program may ask for, sorted by name. */
export function grpcListeners(view: GrpcListenerView, memo: Memo): Stage<Listeners> {
  const { scope, proxy } = view;
  const outbound = targetsOf(memo, { lists: ofServices(memo, view.key(), scope.services, { proxy }, () => undefined) });
  const served = serverListeners(memo, { view });
  return { value: together(memo, { outbound, inbound: served.value }), diagnostics: served.diagnostics };
}

/**
 * The listeners of a server by their names, at addresses that only it knows.
 * @returns in the order of the names; none for those of ports that it does not serve
 */
export function namedServerListeners(view: GrpcListenerView, names: readonly string[], memo: Memo): Stage<Listeners> {
  const filters = filtersOf(view, memo);
  const from = view.authorization.map(keyOf);
  const listeners = inboundListeners(view, names, filters.value);
  return {
    value: listeners.map((listener) => ({ ...listener, from: [...listener.from, ...from] })),
    diagnostics: filters.diagnostics,
  };
}

const serverListeners = query(
  "gRPC listeners of a server",
  ({ view }: { readonly view: GrpcListenerView }, memo: Memo) => namedServerListeners(view, inboundNames(view), memo),
);

const filtersOf = ({ authorization, lookups, policiesOpen }: GrpcListenerView, memo: Memo) =>
  authorizationFilters(memo, { authorization, mesh: lookups.mesh, policiesOpen });

interface Authorized {
  readonly authorization: readonly Config<AuthorizationPolicy>[];
  readonly mesh: MeshConfig;
  readonly policiesOpen: boolean;
}

const authorizationFilters = query(
  "gRPC authorization",
  ({ authorization, mesh, policiesOpen }: Authorized): Stage<readonly HttpFilterJson[]> =>
    policiesOpen
      ? { value: openAuthorization(authorization), diagnostics: [] }
      : grpcAuthorization(authorization, [mesh.trustDomain, ...mesh.trustDomainAliases]),
);

const ofServices = mappedList(
  "gRPC listeners of services",
  (service: Service, _nothing: undefined, { proxy }: { readonly proxy: ClassProxy }, memo: Memo) =>
    outboundListeners(service, proxy, memo),
);

/** A service that really has a name goes before one whose short form it is. */
const targetsOf = query("gRPC targets", ({ lists }: { readonly lists: readonly Targets[] }): Listeners => {
  const all = [...lists.flatMap(({ short }) => short), ...lists.flatMap(({ full }) => full)];
  return [...new Map(all.map((listener) => [listener.name, listener])).values()].sort((a, b) =>
    byCodePoint(a.name, b.name),
  );
});

const together = query(
  "gRPC listeners",
  ({ outbound, inbound }: { readonly outbound: Listeners; readonly inbound: Listeners }): Listeners =>
    inbound.length === 0 ? outbound : [...outbound, ...inbound].sort((a, b) => byCodePoint(a.name, b.name)),
);
