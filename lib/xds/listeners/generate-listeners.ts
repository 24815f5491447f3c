import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey, Diagnostic, Stage } from "../../base/diagnostic.ts";
import { keyOf } from "../../config/config.ts";
import { internValue, listKeeper } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { ListenerView, OutboundListenerView, WorkloadPolicies } from "../../mesh/views/views.ts";
import { eachOnce } from "../provenance.ts";
import { noResources, ownBeside, type Parted, type Resource, uniqueByName } from "../resource.ts";
import { gatewayListeners } from "./gateway/gateway-listeners.ts";
import { inboundListeners } from "./inbound/inbound-listeners.ts";
import { contextOf, type ListenerContext, type ListenerWalk } from "./listener-context.ts";
import { httpProxyListener } from "./outbound/http-proxy-listener.ts";
import { outboundListeners } from "./outbound/outbound-listeners.ts";
import { virtualOutbound } from "./outbound/virtual-outbound.ts";

/**
 * LDS: all listeners of a class of proxies, before EnvoyFilters.
 *
 * @returns those of a gateway, and those of a sidecar that are outbound, are shared: where both sides claim a name, the outbound one stays
 * @see docs/how-istio-does-it/listeners.md#inventory
 */
export function generateListeners(view: ListenerView, memo: Memo): Stage<Parted<Resource<ListenerJson>>> {
  const diagnostics: Diagnostic[] = [];
  const context = contextOf(view, memo);
  const report = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const walk = { view, context: context.value, memo, report };
  return {
    value: view.proxy.type === "router" ? ofGateway(walk) : ofSidecar(walk),
    diagnostics: [...context.diagnostics, ...diagnostics],
  };
}

function ofGateway(walk: ListenerWalk<ListenerView>): Parted<Resource<ListenerJson>> {
  const { view, memo } = walk;
  const listeners = resourcesOf(gatewayListeners(walk), securedKeys(view.policies), memo);
  // As long as every listener is the one of before, so is their list: what is made from it is not made again.
  return { shared: keptListeners(memo, view.key, uniqueByName(listeners)), own: noResources };
}

const keptListeners = listKeeper<Resource<ListenerJson>>("listeners of gateways");

function ofSidecar(walk: ListenerWalk<ListenerView>): Parted<Resource<ListenerJson>> {
  const { view, memo } = walk;
  // Port 0 switches the data plane off.
  if (view.lookups.mesh.proxyListenPort <= 0) return { shared: noResources, own: noResources };
  const outbound = outboundSide(memo, { view: view.outbound });
  for (const diagnostic of outbound.diagnostics) walk.report(diagnostic);
  const { inbound, policies } = view;
  const others = inboundSide(memo, { context: walk.context, inbound, policies });
  return { shared: outbound.value, own: ownBeside({ shared: outbound.value, others }, memo) };
}

type Listeners = readonly Resource<ListenerJson>[];

interface InboundInputs extends Pick<ListenerView, "inbound" | "policies"> {
  readonly context: ListenerContext;
}

/** What a workload serves; a change of the services that it sees is nothing to it. */
const inboundSide = query(
  "inbound listeners",
  ({ policies, ...inputs }: InboundInputs, memo: Memo): Listeners =>
    resourcesOf(inboundListeners({ ...inputs, memo }), securedKeys(policies), memo),
);

/** What sidecars share that see the same services, whatever they serve. What their policies got wrong the whole view says. */
const outboundSide = query(
  "outbound listeners",
  ({ view }: { readonly view: OutboundListenerView }, memo: Memo): Stage<Listeners> => {
    const diagnostics: Diagnostic[] = [];
    const report = (diagnostic: Diagnostic): void => {
      diagnostics.push(diagnostic);
    };
    const walk = { view, context: contextOf(view, memo).value, memo, report };
    const behindAll = internValue(memo, clientKeys(view.policies));
    const httpProxy = httpProxyListener(walk, behindAll);
    const virtual = virtualOutbound(walk);
    const listeners = uniqueByName([
      ...outboundListeners(walk, behindAll),
      ...(httpProxy === undefined ? [] : [httpProxy]),
      ...(virtual === undefined ? [] : resourcesOf([virtual], behindAll, memo)),
    ]);
    return { value: keptOutbound(memo, view.key, listeners), diagnostics };
  },
);

const keptOutbound = listKeeper<Resource<ListenerJson>>("outbound listeners of sidecars");

/** The listeners with the keys of all objects behind them, each key once. */
function resourcesOf(
  listeners: readonly Resource<ListenerJson>[],
  shared: readonly ConfigKey[],
  memo: Memo,
): readonly Resource<ListenerJson>[] {
  return listeners.map(({ name, json, from }) =>
    listenerResource(memo, { json, name, from: eachOnce([...from, ...shared]) }),
  );
}

const listenerResource = query(
  "listener",
  { from: "value" },
  (resource: Omit<Resource<ListenerJson>, "module">): Resource<ListenerJson> => resource,
);

/** Telemetry and extensions are behind every listener. */
function clientKeys({ telemetry, wasmPlugins, trafficExtensions }: WorkloadPolicies): readonly ConfigKey[] {
  return [...telemetry, ...wasmPlugins, ...trafficExtensions].map(keyOf);
}

/** Policies about callers where they are enforced. */
function securedKeys(policies: WorkloadPolicies): readonly ConfigKey[] {
  const { authorization, requestAuthentication } = policies;
  return [...clientKeys(policies), ...[...authorization, ...requestAuthentication].map(keyOf)];
}
