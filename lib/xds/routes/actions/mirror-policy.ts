import type { RouteAction_RequestMirrorPolicyJson } from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { FractionalPercentJson } from "../../../../gen/envoy/type/v3/percent_pb.ts";
import type { HTTPRoute, Percent } from "../../../config/kinds/virtual-service.ts";
import { type DestinationContext, destinationCluster } from "./destination-cluster.ts";
import { fractionOf, wholeFraction } from "./fraction.ts";

/**
 * `mirror` first, then `mirrors` in their order; a share of 0 mirrors nothing and is left out.
 * @see docs/how-istio-does-it/routes.md#destinations
 */
export function mirrorPolicies(route: HTTPRoute, context: DestinationContext): RouteAction_RequestMirrorPolicyJson[] {
  if (route.mirror === undefined && route.mirrors === undefined) return [];
  const mirrors = (route.mirrors ?? []).map(({ destination, percentage }) => ({
    destination,
    share: shareOf(percentage, undefined),
  }));
  if (route.mirror !== undefined) {
    mirrors.unshift({ destination: route.mirror, share: shareOf(route.mirrorPercentage, route.mirrorPercent) });
  }
  return mirrors.flatMap(({ destination, share }) =>
    share === undefined
      ? []
      : [
          {
            cluster: destinationCluster(destination, context),
            runtimeFraction: { defaultValue: share },
            traceSampled: false,
            disableShadowHostSuffixAppend: true,
          },
        ],
  );
}

/** Everything, if nothing is said; undefined for nothing. */
function shareOf(percentage: Percent | undefined, wholePercent: number | undefined): FractionalPercentJson | undefined {
  if (percentage !== undefined) return (percentage.value ?? 0) > 0 ? fractionOf(percentage) : undefined;
  if (wholePercent === undefined) return wholeFraction(100);
  return wholePercent > 0 ? wholeFraction(wholePercent) : undefined;
}
