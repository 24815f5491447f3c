import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { keyOf } from "../../config/config.ts";
import { byCodePoint, type ConfigKey, type Diagnostic, keyText, type Stage } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { sameList } from "../../mesh/memo/same.ts";
import { step } from "../../mesh/memo/step.ts";
import type { ListenerView, OutboundListenerView, WorkloadPolicies } from "../../mesh/views/views.ts";
import type { Resource } from "../resource.ts";
import { scopedProviders } from "../telemetry/provider-cluster.ts";
import { providerDiagnostics } from "../telemetry/provider-diagnostics.ts";
import { gatewayListeners } from "./gateway/gateway-listeners.ts";
import { inboundListeners } from "./inbound/inbound-listeners.ts";
import { contextOf, type ListenerWalk } from "./listener-context.ts";
import { httpProxyListener } from "./outbound/http-proxy-listener.ts";
import { outboundListeners } from "./outbound/outbound-listeners.ts";
import { virtualOutbound } from "./outbound/virtual-outbound.ts";

/**
 * LDS: all listeners of a class of proxies, before EnvoyFilters.
 *
 * @returns sorted by name, each name once: where two parts claim a name, the outbound one stays
 * @see docs/how-istio-does-it/listeners.md#inventory
 */
export function generateListeners(view: ListenerView, memo: Memo): Stage<readonly Resource<ListenerJson>[]> {
  const diagnostics: Diagnostic[] = [];
  const context = contextOf(view, memo);
  const report = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const walk = { view, context: context.value, memo, report };
  const listeners =
    view.proxy.type === "router"
      ? resourcesOf(gatewayListeners(walk), securedKeys(view.policies), memo)
      : sidecarListeners(walk);
  const byName = new Map<string, Resource<ListenerJson>>();
  for (const listener of listeners) if (!byName.has(listener.name)) byName.set(listener.name, listener);
  const sorted = [...byName.values()].sort((a, b) => byCodePoint(a.name, b.name));
  return {
    // As long as every listener is the one of before, so is their list: what is made from it is not made again.
    value: sameList(memo, `listeners|${view.key}`, sorted),
    diagnostics: [
      ...context.diagnostics,
      ...providerDiagnostics(view.policies.telemetry, scopedProviders(view)),
      ...diagnostics,
    ],
  };
}

function sidecarListeners(walk: ListenerWalk<ListenerView>): readonly Resource<ListenerJson>[] {
  const { view, memo } = walk;
  // Port 0 switches the data plane off.
  if (view.lookups.mesh.proxyListenPort <= 0) return [];
  const outbound = outboundSide(memo, { view: view.outbound });
  for (const diagnostic of outbound.diagnostics) walk.report(diagnostic);
  return [...outbound.value, ...resourcesOf(inboundListeners(walk), securedKeys(view.policies), memo)];
}

/** What sidecars share that see the same services, whatever they serve. What their policies got wrong the whole view says. */
const outboundSide = step(
  "outbound listeners",
  { view: "identity" },
  ({ view }: { readonly view: OutboundListenerView }, memo: Memo): Stage<readonly Resource<ListenerJson>[]> => {
    const diagnostics: Diagnostic[] = [];
    const report = (diagnostic: Diagnostic): void => {
      diagnostics.push(diagnostic);
    };
    const walk = { view, context: contextOf(view, memo).value, memo, report };
    const single = [httpProxyListener(walk), virtualOutbound(walk)].filter((listener) => listener !== undefined);
    const listeners = [...outboundListeners(walk), ...single];
    return { value: resourcesOf(listeners, clientKeys(view.policies), memo), diagnostics };
  },
);

/** The listeners with the keys of all objects behind them, each key once. */
function resourcesOf(
  listeners: readonly Resource<ListenerJson>[],
  shared: readonly ConfigKey[],
  memo: Memo,
): readonly Resource<ListenerJson>[] {
  return listeners.map(({ name, json, from }) => {
    const keys = new Map([...from, ...shared].map((key) => [keyText(key), key]));
    return listenerResource(memo, { json, name, from: [...keys.values()] });
  });
}

const listenerResource = step(
  "listener",
  { json: "identity", name: "value", from: "value" },
  (resource: Resource<ListenerJson>): Resource<ListenerJson> => resource,
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
