import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type PackedJson, packAny } from "../core-messages.ts";

/** A connection manager with what programs read of one, which is little. */
export function connectionManager(json: HttpConnectionManagerJson): PackedJson<HttpConnectionManagerJson> {
  return packAny("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", json);
}

/** The last filter of every list. */
export const routerFilter: HttpFilterJson = {
  name: "envoy.filters.http.router",
  typedConfig: packAny("envoy.extensions.filters.http.router.v3.Router", {}),
};
