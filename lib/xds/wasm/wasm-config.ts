import type { AsyncDataSourceJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { PluginConfigJson } from "../../../gen/envoy/extensions/wasm/v3/wasm_pb.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import type { WasmConfig } from "../../config/kinds/wasm-plugin.ts";
import { fingerprint } from "../../incremental/plain-text.ts";
import { packAny } from "../core-messages.ts";

/** Where an Envoy finds the code of an extension; "agent": it does not, and Istio's agent fetches it first. */
export type CodePlace =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "cluster"; readonly cluster: string; readonly url: string; readonly sha256: string }
  | { readonly kind: "agent"; readonly url: string };

/** Istio's name for no cluster. Its agents put a file in the place of whatever code is remote. */
export const agentCluster = "_";
/** Envoy wants a checksum of what is fetched; agents take this word for none. */
const noChecksum = "nil";

/**
 * The settings of a Wasm filter, of whatever layer.
 *
 * @param name `<namespace>.<name>` of the extension
 * @see docs/how-istio-does-it/extensions.md#what-is-discovered
 */
export function wasmConfig(name: string, wasm: WasmConfig, place: CodePlace): PluginConfigJson {
  const { pluginName, pluginConfig = {}, failStrategy = "FAIL_CLOSE", vmConfig } = wasm;
  const variables = vmConfig?.env ?? [];
  const fromHost = variables.filter(({ valueFrom }) => valueFrom === "HOST").map((variable) => variable.name);
  const keyValues = Object.fromEntries([
    ...(place.kind === "agent" ? agentVariables(wasm) : []),
    ...variables
      .filter(({ valueFrom = "INLINE" }) => valueFrom === "INLINE")
      .map((variable) => [variable.name, variable.value ?? ""] as const),
  ]);
  const environmentVariables = {
    ...(fromHost.length === 0 ? {} : { hostEnvKeys: fromHost }),
    ...(Object.keys(keyValues).length === 0 ? {} : { keyValues }),
  };
  return {
    name,
    ...(pluginName ? { rootId: pluginName } : {}),
    vmConfig: {
      ...(place.kind === "cluster" ? { vmId: fetchedVmId(place.sha256) } : {}),
      runtime: "envoy.wasm.runtime.v8",
      code: codeAt(place, wasm.sha256),
      ...(Object.keys(environmentVariables).length === 0 ? {} : { environmentVariables }),
    },
    ...(Object.keys(pluginConfig).length === 0
      ? {}
      : { configuration: packAny("google.protobuf.StringValue", { value: canonicalJson(pluginConfig) }) }),
    failurePolicy: failStrategy === "FAIL_CLOSE" ? "FAIL_CLOSED" : failStrategy,
  };
}

/**
 * The virtual machine of code that Envoy fetches. Envoy makes the key of a machine before it has the code: machines without an id would be one,
 * and all plugins would run the code that came first.
 *
 * @see envoy 1.40.0 source/extensions/common/wasm/wasm.cc, createWasm
 */
export const fetchedVmId = (sha256: string): string => sha256.slice(0, 16);

const pullSecretVariable = "ISTIO_META_WASM_IMAGE_PULL_SECRET";
const pullPolicyVariable = "ISTIO_META_WASM_IMAGE_PULL_POLICY";
const resourceVersionVariable = "ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION";

/** What Istio's agent reads of the environment, and takes out of it. */
export const agentVariableNames: ReadonlySet<string> = new Set([
  pullSecretVariable,
  pullPolicyVariable,
  resourceVersionVariable,
]);

/** The same with what they say. */
function agentVariables(wasm: WasmConfig): readonly (readonly [string, string])[] {
  const { imagePullSecret, imagePullPolicy = "UNSPECIFIED_POLICY" } = wasm;
  return [
    // No credential stands in a snapshot: an empty one is what Istio writes where it cannot read the secret.
    ...(imagePullSecret ? [[pullSecretVariable, ""] as const] : []),
    ...(imagePullPolicy === "UNSPECIFIED_POLICY" ? [] : [[pullPolicyVariable, imagePullPolicy] as const]),
    // Istio writes the object's, which changes with its status too. Agents only ask whether it is another.
    [resourceVersionVariable, fingerprint(canonicalJson(wasm))],
  ];
}

function codeAt(place: CodePlace, sha256: string | undefined): AsyncDataSourceJson {
  switch (place.kind) {
    case "file":
      return { local: { filename: place.path } };
    case "cluster": {
      const { url, cluster } = place;
      return { remote: { httpUri: { uri: url, cluster, timeout: "30s" }, sha256: place.sha256 } };
    }
    case "agent": {
      const httpUri = { uri: place.url, cluster: agentCluster, timeout: "30s" };
      return { remote: { httpUri, sha256: sha256 || noChecksum } };
    }
  }
}
