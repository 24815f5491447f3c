import type { CorsPolicyJson } from "../../../../gen/envoy/extensions/filters/http/cors/v3/cors_pb.ts";
import type { CorsPolicy, StringMatch } from "../../../config/kinds/virtual-service.ts";
import { type PackedJson, packAny } from "../../core-messages.ts";
import { stringMatcher } from "./string-match.ts";

/** Key of the filter's configuration on a route. */
export const corsFilter = "envoy.filters.http.cors";

/** The route's configuration of the CORS filter. @see docs/how-istio-does-it/routes.md#faults-and-cors */
export function corsConfig(policy: CorsPolicy): PackedJson<CorsPolicyJson> {
  const origins = policy.allowOrigins ?? (policy.allowOrigin ?? []).map((exact): StringMatch => ({ exact }));
  const allowOriginStringMatch = origins.flatMap((origin) => stringMatcher(origin) ?? []);
  const allowMethods = policy.allowMethods?.join(",") ?? "";
  const allowHeaders = policy.allowHeaders?.join(",") ?? "";
  const exposeHeaders = policy.exposeHeaders?.join(",") ?? "";
  return packAny<CorsPolicyJson>("envoy.extensions.filters.http.cors.v3.CorsPolicy", {
    ...(allowOriginStringMatch.length === 0 ? {} : { allowOriginStringMatch }),
    ...(allowMethods === "" ? {} : { allowMethods }),
    ...(allowHeaders === "" ? {} : { allowHeaders }),
    ...(exposeHeaders === "" ? {} : { exposeHeaders }),
    ...(policy.maxAge === undefined ? {} : { maxAge: wholeSeconds(policy.maxAge) }),
    ...(policy.allowCredentials === undefined ? {} : { allowCredentials: policy.allowCredentials }),
    filterEnabled: { defaultValue: { numerator: 100 } },
    forwardNotMatchingPreflights: policy.unmatchedPreflights !== "IGNORE",
  });
}

/** `86400s` reads as `86400`, `1.500s` as `1`: the header takes whole seconds. */
function wholeSeconds(duration: string): string {
  return duration.replace(/(?:\.\d+)?s$/, "");
}
