import { durationMs } from "../../base/duration.ts";
import type { LegacyHTTPFaultInjection } from "../../config/kinds/legacy/route-rule.ts";
import type { HeaderMatch, HttpFilter } from "../documents.ts";

/**
 * The filter that injects a rule's faults into requests to one cluster; undefined where nothing is left of them.
 * Shares are cut to whole percents, and the path of the rule does not count.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#filters
 */
export function faultFilter(
  cluster: string,
  fault: LegacyHTTPFaultInjection,
  headers: readonly HeaderMatch[] | undefined,
): HttpFilter | undefined {
  const abort = abortOf(fault.abort);
  const delay = delayOf(fault.delay);
  if (abort === undefined && delay === undefined) return undefined;
  return {
    type: "decoder",
    name: "fault",
    config: {
      ...(abort === undefined ? {} : { abort }),
      ...(delay === undefined ? {} : { delay }),
      ...(headers === undefined ? {} : { headers }),
      upstream_cluster: cluster,
    },
  };
}

function abortOf(abort: LegacyHTTPFaultInjection["abort"]): object | undefined {
  const { percent = 0, httpStatus = 0 } = abort ?? {};
  if (percent === 0 || httpStatus === 0) return undefined;
  return { ...whole("abort_percent", percent), http_status: httpStatus };
}

function delayOf(delay: LegacyHTTPFaultInjection["delay"]): object | undefined {
  const { percent = 0, fixedDelay } = delay ?? {};
  if (percent === 0) return undefined;
  const ms = fixedDelay === undefined ? 0 : Math.trunc(durationMs(fixedDelay));
  return { type: "fixed", ...whole("fixed_delay_percent", percent), ...(ms === 0 ? {} : { fixed_duration_ms: ms }) };
}

function whole(name: string, percent: number): object {
  const cut = Math.trunc(percent);
  return cut === 0 ? {} : { [name]: cut };
}
