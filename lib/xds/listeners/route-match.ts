import type { L4MatchAttributes } from "../../config/kinds/virtual-service.ts";
import type { ListenerContext } from "./listener-context.ts";

/** The parts of a `tcp` or `tls` match that are decided now, and not by Envoy. */
export type StaticMatch = Pick<L4MatchAttributes, "gateways" | "sourceLabels" | "sourceNamespace" | "port">;

/** Whether a match can apply to a sidecar's listener at all. */
export function sidecarMatches(match: StaticMatch, context: ListenerContext, port: number): boolean {
  const { gateways = [], sourceLabels = {}, sourceNamespace = "", port: wanted = 0 } = match;
  return (
    (gateways.length === 0 || gateways.includes("mesh")) &&
    (wanted === 0 || wanted === port) &&
    (sourceNamespace === "" || sourceNamespace === context.proxy.namespace) &&
    Object.entries(sourceLabels).every(([key, value]) => context.sourceLabels[key] === value)
  );
}
