import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { HttpProtocolOptionsJson } from "../../../gen/envoy/extensions/upstreams/http/v3/http_protocol_options_pb.ts";
import type { OutlierDetection } from "../../config/kinds/destination-rule.ts";

/** 100 % for a positive limit; a limit of 0 switches the check off. */
const enforced = (limit: number): number => (limit > 0 ? 100 : 0);

/**
 * Ejection by consecutive errors, and by the share of failures where a rule states one: ejection by success rate is always off.
 *
 * @see docs/how-istio-does-it/clusters.md#outlier-detection
 */
export function outlierDetection(
  settings: OutlierDetection | undefined,
): Pick<ClusterJson, "outlierDetection"> | undefined {
  if (settings === undefined) return undefined;
  const errors = settings.consecutive5xxErrors;
  const gatewayErrors = settings.consecutiveGatewayErrors;
  const ejected = settings.maxEjectionPercent ?? 0;
  return {
    outlierDetection: {
      enforcingSuccessRate: 0,
      ...(errors === undefined ? {} : { consecutive5xx: errors, enforcingConsecutive5xx: enforced(errors) }),
      ...(gatewayErrors === undefined
        ? {}
        : {
            consecutiveGatewayFailure: gatewayErrors,
            enforcingConsecutiveGatewayFailure: enforced(gatewayErrors),
          }),
      ...(settings.interval === undefined ? {} : { interval: settings.interval }),
      ...(settings.baseEjectionTime === undefined ? {} : { baseEjectionTime: settings.baseEjectionTime }),
      ...(ejected <= 0 ? {} : { maxEjectionPercent: ejected }),
      ...failureShare(settings),
      ...localOrigin(settings),
    },
  };
}

/** Envoy has the threshold switched off; by the API's text it counts as soon as it is stated. */
function failureShare({ failurePercentageThreshold: percent, ...settings }: OutlierDetection) {
  if (percent === undefined) return {};
  return {
    failurePercentageThreshold: percent,
    enforcingFailurePercentage: 100,
    ...(settings.splitExternalLocalOriginErrors === true ? { enforcingFailurePercentageLocalOrigin: 100 } : {}),
  };
}

function localOrigin(settings: OutlierDetection): ClusterJson["outlierDetection"] {
  if (settings.splitExternalLocalOriginErrors !== true) return {};
  const failures = settings.consecutiveLocalOriginFailures ?? 0;
  return {
    splitExternalLocalOriginErrors: true,
    enforcingLocalOriginSuccessRate: 0,
    ...(failures <= 0 ? {} : { consecutiveLocalOriginFailure: failures, enforcingConsecutiveLocalOriginFailure: 100 }),
  };
}

/**
 * Below which share of healthy hosts Envoy panics. Outlier detection turns Envoy's 50 % into 0 unless a rule states
 * another; where unready endpoints are sent, panic would send traffic to them, so it is off altogether.
 *
 * @returns undefined where Envoy's own share holds
 */
export function panicThreshold(
  settings: OutlierDetection | undefined,
  sendsUnhealthyEndpoints: boolean,
): Pick<NonNullable<ClusterJson["commonLbConfig"]>, "healthyPanicThreshold"> | undefined {
  if (sendsUnhealthyEndpoints) return { healthyPanicThreshold: {} };
  const percent = settings === undefined ? -1 : (settings.minHealthPercent ?? 0);
  if (percent < 0) return undefined;
  return { healthyPanicThreshold: percent === 0 ? {} : { value: percent } };
}

const statusHeader = ":status";

/**
 * Which responses count as errors where a rule says so, as the cluster's protocol options have it; undefined: 5xx.
 *
 * @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/networking/core/cluster_traffic_policy.go
 */
export function errorMatcher({
  outlierDetectionHttpErrorCodes: codes = [],
}: OutlierDetection = {}): HttpProtocolOptionsJson["outlierDetection"] {
  const rules = codes.map((code) => ({
    httpResponseHeadersMatch: { headers: [{ name: statusHeader, stringMatch: { exact: String(code) } }] },
  }));
  const [only, ...others] = rules;
  if (only === undefined) return undefined;
  return { errorMatcher: others.length === 0 ? only : { orMatch: { rules } } };
}
