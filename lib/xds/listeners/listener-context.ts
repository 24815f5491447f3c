import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { fingerprint } from "../../mesh/memo/plain-text.ts";
import type { ListenerView } from "../../mesh/views/views.ts";
import { type AccessLogs, accessLogs } from "../telemetry/access-logging.ts";
import type { TelemetrySide } from "../telemetry/telemetry-side.ts";
import { type ConnectionTracing, connectionTracing } from "../telemetry/tracing.ts";
import { externalSecretServer } from "../tls/downstream-credential.ts";
import { loopbackAddresses, wildcardAddresses } from "./bind.ts";
import type { ListenerClass, PolicyFilters } from "./filters/policy-filters.ts";

/** Logs and tracing of one side of a proxy. */
export interface SideTelemetry extends ConnectionTracing {
  readonly logs: AccessLogs;
}

/** What every part of one class's listeners is made from: the view, and what follows from it once for all of them. */
export interface ListenerContext {
  readonly view: ListenerView;
  readonly wildcards: readonly [string, ...string[]];
  readonly loopbacks: readonly [string, ...string[]];
  readonly policies: PolicyFilters;
  readonly telemetry: Readonly<Record<TelemetrySide, SideTelemetry>>;
  /**
   * Remembers a piece that is made from this context and from nothing else but the objects and the plain values in the name.
   * Services, rules and virtual services are objects to name; what the class is, its policies and its telemetry are not.
   */
  readonly stable: <T>(from: readonly object[], name: string, make: () => T) => T;
  /** Reports a conflict or an object left out. */
  readonly report: (diagnostic: Diagnostic) => void;
}

export function listenerContext(
  view: ListenerView,
  memo: Memo,
  policies: PolicyFilters,
  report: (diagnostic: Diagnostic) => void,
): ListenerContext {
  const telemetry = { CLIENT: sideTelemetry(view, "CLIENT"), SERVER: sideTelemetry(view, "SERVER") };
  const base = contextToken(view, memo, policies, telemetry);
  return {
    view,
    wildcards: wildcardAddresses(view.proxy.ipMode),
    loopbacks: loopbackAddresses(view.proxy.ipMode),
    policies,
    telemetry,
    stable: (from, name, make) => memo([base, ...from], name, make),
    report,
  };
}

/** An object that stays the same as long as a context says the same, whatever views it comes from. */
function contextToken(
  { proxy, options, scope, sourceLabels, lookups, policies }: ListenerView,
  memo: Memo,
  { http, tcp, called }: PolicyFilters,
  telemetry: ListenerContext["telemetry"],
): object {
  const outbound = scope.outboundTrafficPolicy;
  const secrets = externalSecretServer(lookups);
  // The rest of what policies ask for follows from them and the mesh's settings, and may be very long.
  const security = [http.custom, http.authentication, tcp.custom, [...called]];
  const text = JSON.stringify([proxy, options, outbound, sourceLabels, security, telemetry, secrets]);
  const objects = [...policies.wasmPlugins, ...policies.trafficExtensions, ...policies.authorization];
  return memo([lookups.mesh, lookups.meshNetworks, ...objects], `listeners|${fingerprint(text)}`, () => ({}));
}

/** Gateways and the outbound side are clients of what stands behind them. */
export function telemetryOf(context: ListenerContext, listenerClass: ListenerClass): SideTelemetry {
  return context.telemetry[listenerClass === "inbound" ? "SERVER" : "CLIENT"];
}

function sideTelemetry(view: ListenerView, side: TelemetrySide): SideTelemetry {
  return { logs: accessLogs(view, side), ...connectionTracing(view, side) };
}
