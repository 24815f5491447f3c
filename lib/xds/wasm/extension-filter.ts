import type { ExtensionConfigSourceJson } from "../../../gen/envoy/config/core/v3/config_source_pb.ts";
import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { LuaJson } from "../../../gen/envoy/extensions/filters/http/lua/v3/lua_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { overAds, packAny } from "../core-messages.ts";
import type { Extension } from "./traffic-extension.ts";

/**
 * An extension as a filter of a connection manager; undefined for one of the network layer. Wasm is a name to be discovered,
 * wherever its code comes from: the proxy's agent fetches it first. An RBAC filter may stand in that refuses everything.
 */
export function httpExtension({ resourceName: name, code }: Extension): HttpFilterJson | undefined {
  if (code.kind === "lua") {
    const config: LuaJson = { defaultSourceCode: { inlineString: code.source } };
    return { name, typedConfig: packAny("envoy.extensions.filters.http.lua.v3.Lua", config) };
  }
  return code.layer === "http" ? { name, configDiscovery: discovery("http") } : undefined;
}

/** An extension as a network filter; undefined for one of HTTP. */
export function networkExtension({ resourceName: name, code }: Extension): FilterJson | undefined {
  return code.kind === "wasm" && code.layer === "network" ? { name, configDiscovery: discovery("network") } : undefined;
}

function discovery(layer: "http" | "network"): ExtensionConfigSourceJson {
  return {
    configSource: overAds,
    typeUrls: [
      `type.googleapis.com/envoy.extensions.filters.${layer}.wasm.v3.Wasm`,
      `type.googleapis.com/envoy.extensions.filters.${layer}.rbac.v3.RBAC`,
    ],
  };
}
