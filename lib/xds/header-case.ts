import type { Http1ProtocolOptionsJson } from "../../gen/envoy/config/core/v3/protocol_pb.ts";
import { packAny } from "./any.ts";

/** Lets HTTP/1 header names pass as they were written: for both ends of a proxy, since either would lower their case. */
export const preserveCase: NonNullable<Http1ProtocolOptionsJson["headerKeyFormat"]> = {
  statefulFormatter: {
    name: "preserve_case",
    typedConfig: packAny("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig", {}),
  },
};
