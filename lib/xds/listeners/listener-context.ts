import type { Diagnostic } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo.ts";
import type { ListenerView } from "../../mesh/views.ts";
import { type AccessLogs, accessLogs } from "../telemetry/access-logging.ts";
import type { TelemetrySide } from "../telemetry/telemetry-side.ts";
import { type ConnectionTracing, connectionTracing } from "../telemetry/tracing.ts";
import { loopbackAddresses, wildcardAddresses } from "./bind.ts";
import type { ListenerClass, PolicyFilters } from "./policy-filters.ts";

/** Logs and tracing of one side of a proxy. */
export interface SideTelemetry extends ConnectionTracing {
  readonly logs: AccessLogs;
}

/** What every part of one class's listeners is made from: the view, and what follows from it once for all of them. */
export interface ListenerContext {
  readonly view: ListenerView;
  readonly memo: Memo;
  readonly wildcards: readonly [string, ...string[]];
  readonly loopbacks: readonly [string, ...string[]];
  readonly policies: PolicyFilters;
  readonly telemetry: Readonly<Record<TelemetrySide, SideTelemetry>>;
  /** Reports a conflict or an object left out. */
  readonly report: (diagnostic: Diagnostic) => void;
}

export function listenerContext(
  view: ListenerView,
  memo: Memo,
  policies: PolicyFilters,
  report: (diagnostic: Diagnostic) => void,
): ListenerContext {
  return {
    view,
    memo,
    wildcards: wildcardAddresses(view.proxy.ipMode),
    loopbacks: loopbackAddresses(view.proxy.ipMode),
    policies,
    telemetry: { CLIENT: sideTelemetry(view, "CLIENT"), SERVER: sideTelemetry(view, "SERVER") },
    report,
  };
}

/** Gateways and the outbound side are clients of what stands behind them. */
export function telemetryOf(context: ListenerContext, listenerClass: ListenerClass): SideTelemetry {
  return context.telemetry[listenerClass === "inbound" ? "SERVER" : "CLIENT"];
}

function sideTelemetry(view: ListenerView, side: TelemetrySide): SideTelemetry {
  return { logs: accessLogs(view, side), ...connectionTracing(view, side) };
}
