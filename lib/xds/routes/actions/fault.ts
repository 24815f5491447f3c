import type { FaultDelayJson } from "../../../../gen/envoy/extensions/filters/common/fault/v3/fault_pb.ts";
import type { FaultAbortJson, HTTPFaultJson } from "../../../../gen/envoy/extensions/filters/http/fault/v3/fault_pb.ts";
import type { HTTPFaultAbort, HTTPFaultDelay, HTTPFaultInjection } from "../../../config/kinds/virtual-service.ts";
import { grpcStatuses } from "../../../config/rules/routes/http-status.ts";
import { type PackedJson, packAny } from "../../core-messages.ts";
import { fractionOf, wholeFraction } from "./fraction.ts";

/** Key of the filter's configuration on a route. */
export const faultFilter = "envoy.filters.http.fault";

/** The route's configuration of the fault filter. @see docs/how-istio-does-it/routes.md#faults-and-cors */
export function faultConfig(fault: HTTPFaultInjection): PackedJson<HTTPFaultJson> {
  const delay = fault.delay && faultDelay(fault.delay);
  const abort = fault.abort && faultAbort(fault.abort);
  return packAny<HTTPFaultJson>("envoy.extensions.filters.http.fault.v3.HTTPFault", {
    ...(delay === undefined ? {} : { delay }),
    ...(abort === undefined ? {} : { abort }),
  });
}

/** Exponential delays were never built: such a delay is left out. */
function faultDelay(delay: HTTPFaultDelay): FaultDelayJson | undefined {
  if (delay.fixedDelay === undefined) return undefined;
  return {
    fixedDelay: delay.fixedDelay,
    percentage: delay.percentage === undefined ? wholeFraction(delay.percent ?? 0) : fractionOf(delay.percentage),
  };
}

function faultAbort(abort: HTTPFaultAbort): FaultAbortJson | undefined {
  const percentage = abort.percentage === undefined ? {} : { percentage: fractionOf(abort.percentage) };
  if (abort.httpStatus !== undefined) return { httpStatus: abort.httpStatus, ...percentage };
  if (abort.grpcStatus === undefined) return undefined;
  return { grpcStatus: Math.max(grpcStatuses.indexOf(abort.grpcStatus), 0), ...percentage };
}
