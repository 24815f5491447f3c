import { packAny } from "../core-messages.ts";
import { isJsonObject, type JsonObject } from "../map-json.ts";
import type { Resource } from "../resource.ts";
import { agentCluster } from "./wasm-config.ts";

const wasmType = /^type\.googleapis\.com\/envoy\.extensions\.filters\.(http|network)\.wasm\.v3\.Wasm$/;

/**
 * An extension as an Envoy without Istio's agent can have it. In the place of code that only the agent fetches stands what the agent
 * itself puts there when it cannot: a filter that lets everything pass where the extension says so, else one that refuses everything.
 *
 * @returns the resource itself where Envoy can do with it
 * @see istio 1.30.3 pkg/wasm/convert.go
 */
export function withStandIn(resource: Resource): Resource {
  const typedConfig: unknown = Reflect.get(resource.json, "typedConfig");
  if (!isJsonObject(typedConfig)) return resource;
  const { "@type": type, config } = typedConfig;
  const layer = wasmType.exec(String(type))?.[1];
  if (layer === undefined || !isJsonObject(config) || !isForAgent(config)) return resource;
  const isOpen = config.failurePolicy === "FAIL_OPEN";
  const prefix = isOpen ? "wasm-default-allow" : "wasm-default-deny";
  const filter = {
    ...(isOpen ? {} : { rules: {} }),
    ...(layer === "http" ? { rulesStatPrefix: prefix } : { statPrefix: prefix }),
  };
  const standing = packAny(`envoy.extensions.filters.${layer}.rbac.v3.RBAC`, filter);
  return { ...resource, json: { ...resource.json, typedConfig: standing } };
}

function isForAgent(config: JsonObject): boolean {
  let found: unknown = config;
  for (const field of ["vmConfig", "code", "remote", "httpUri", "cluster"])
    found = isJsonObject(found) ? found[field] : undefined;
  return found === agentCluster;
}
