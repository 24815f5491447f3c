import { packAny } from "../core-messages.ts";
import { isJsonObject, type JsonObject } from "../map-json.ts";
import { portolanCluster } from "../names.ts";
import type { Resource } from "../resource.ts";
import { fetchedName } from "./fetched-names.ts";
import { agentCluster, agentVariableNames, fetchedVmId } from "./wasm-config.ts";

const wasmType = /^type\.googleapis\.com\/envoy\.extensions\.filters\.(http|network)\.wasm\.v3\.Wasm$/;

/**
 * An extension as an Envoy without Istio's agent can have it. Code that only the agent fetches is at the front, once a resolver has
 * fetched it. Until then what stands in its place is what the agent itself puts there when it cannot: a filter that lets everything pass
 * where the extension says so, else one that refuses everything.
 *
 * @returns the resource itself where Envoy can do with it
 * @see istio 1.30.3 pkg/wasm/convert.go
 */
export function withFallbackFilter(resource: Resource): Resource {
  const typedConfig: unknown = Reflect.get(resource.json, "typedConfig");
  if (!isJsonObject(typedConfig)) return resource;
  const { "@type": type, config } = typedConfig;
  const layer = wasmType.exec(String(type))?.[1];
  if (layer === undefined || !isJsonObject(config) || !isForAgent(config)) return resource;
  const { module } = resource;
  if (module !== undefined) {
    const name = fetchedName(resource.name, module);
    const json = { ...resource.json, name, typedConfig: { ...typedConfig, config: fromFront(config, module) } };
    return { ...resource, name, json };
  }
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

/**
 * The same settings with the code from the front, which a bootstrap's cluster leads to with all that proves who asks. An Envoy that cannot
 * fetch code does not ask again by itself, so it tries often enough for a front to start anew.
 */
function fromFront(config: JsonObject, sha256: string): JsonObject {
  const vmConfig = isJsonObject(config.vmConfig) ? config.vmConfig : {};
  const { environmentVariables, ...rest } = vmConfig;
  const httpUri = { uri: `http://${portolanCluster}/v3/wasm/${sha256}`, cluster: portolanCluster, timeout: "60s" };
  const retryPolicy = { numRetries: 5, retryBackOff: { baseInterval: "1s", maxInterval: "10s" } };
  return {
    ...config,
    vmConfig: {
      vmId: fetchedVmId(sha256),
      ...rest,
      code: { remote: { httpUri, sha256, retryPolicy } },
      ...(isJsonObject(environmentVariables) ? ownVariables(environmentVariables) : {}),
    },
  };
}

/** Without what the agent takes out of them. */
function ownVariables({ keyValues, ...variables }: JsonObject): JsonObject {
  const own = Object.entries(isJsonObject(keyValues) ? keyValues : {}).filter(
    ([name]) => !agentVariableNames.has(name),
  );
  const left = { ...variables, ...(own.length === 0 ? {} : { keyValues: Object.fromEntries(own) }) };
  return Object.keys(left).length === 0 ? {} : { environmentVariables: left };
}
