import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { keyOf } from "../../config/config.ts";
import { byCodePoint, type ConfigKey, type Diagnostic, keyText, type Stage } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { sameList } from "../../mesh/memo/same.ts";
import type { ListenerView } from "../../mesh/views/views.ts";
import type { Resource } from "../resource.ts";
import { providerDiagnostics } from "../telemetry/provider-diagnostics.ts";
import { policyFilters } from "./filters/policy-filters.ts";
import { gatewayListeners } from "./gateway/gateway-listeners.ts";
import { inboundListeners } from "./inbound/inbound-listeners.ts";
import { type ListenerContext, listenerContext } from "./listener-context.ts";
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
  const policies = policyFilters(view);
  const context = listenerContext(view, memo, policies.value, (diagnostic) => diagnostics.push(diagnostic));
  const listeners =
    view.proxy.type === "router"
      ? resourcesOf(gatewayListeners(context), sharedKeys(view).secured, memo)
      : sidecarListeners(context, memo);
  const byName = new Map<string, Resource<ListenerJson>>();
  for (const listener of listeners) if (!byName.has(listener.name)) byName.set(listener.name, listener);
  const sorted = [...byName.values()].sort((a, b) => byCodePoint(a.name, b.name));
  return {
    // As long as every listener is the one of before, so is their list: what is made from it is not made again.
    value: sameList(memo, `listeners|${view.key}`, sorted),
    diagnostics: [...policies.diagnostics, ...providerDiagnostics(view), ...diagnostics],
  };
}

function sidecarListeners(context: ListenerContext, memo: Memo): readonly Resource<ListenerJson>[] {
  // Port 0 switches the data plane off.
  if (context.view.lookups.mesh.proxyListenPort <= 0) return [];
  const outbound = memo([context.view.outbound], "outbound listeners", () => outboundSide(context, memo));
  for (const diagnostic of outbound.diagnostics) context.report(diagnostic);
  const inbound = resourcesOf(inboundListeners(context), sharedKeys(context.view).secured, memo);
  return [...outbound.value, ...inbound];
}

/** What sidecars share that see the same services, whatever they serve. */
function outboundSide(context: ListenerContext, memo: Memo): Stage<readonly Resource<ListenerJson>[]> {
  const diagnostics: Diagnostic[] = [];
  const own: ListenerContext = { ...context, report: (diagnostic) => diagnostics.push(diagnostic) };
  const single = [httpProxyListener(own), virtualOutbound(own)].filter((listener) => listener !== undefined);
  const listeners = [...outboundListeners(own), ...single];
  return { value: resourcesOf(listeners, sharedKeys(context.view).client, memo), diagnostics };
}

/** The listeners with the keys of all objects behind them, each key once. */
function resourcesOf(
  listeners: readonly Resource<ListenerJson>[],
  shared: readonly ConfigKey[],
  memo: Memo,
): readonly Resource<ListenerJson>[] {
  return listeners.map(({ name, json, from }) => {
    const keys = new Map([...from, ...shared].map((key) => [keyText(key), key]));
    const text = [...keys.keys()].join();
    return memo([json], `resource|${text}`, () => ({ name, json, from: [...keys.values()] }));
  });
}

/** Objects behind every listener of a kind: policies where they are enforced, telemetry and extensions everywhere. */
function sharedKeys({ policies }: ListenerView): Readonly<Record<"client" | "secured", readonly ConfigKey[]>> {
  const { telemetry, wasmPlugins, trafficExtensions, authorization, requestAuthentication } = policies;
  const client = [...telemetry, ...wasmPlugins, ...trafficExtensions].map(keyOf);
  return { client, secured: [...client, ...[...authorization, ...requestAuthentication].map(keyOf)] };
}
