import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";

/**
 * Over the stream that brought what asks. Envoy waits for the first answer for as long as it takes: without it, what asks
 * does not start. The poll shape has another source in its place.
 */
export const overAds: ConfigSourceJson = { ads: {}, initialFetchTimeout: "0s", resourceApiVersion: "V3" };
