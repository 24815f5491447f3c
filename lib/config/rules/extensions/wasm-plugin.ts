import { error, type Finding, type Path } from "../../finding.ts";
import type { TrafficExtension, TrafficSelector, WasmConfig, WasmPlugin } from "../../kinds/wasm-plugin.ts";
import { inlineSecretRules } from "../security/inline-secrets.ts";
import { policyTargetRules } from "../selectors.ts";
import { duplicates, each, portRules } from "../values.ts";

/** @see docs/how-istio-does-it/kind-rules.md#wasmplugin */
export function* wasmPluginRules(spec: WasmPlugin): Generator<Finding> {
  yield* policyTargetRules(spec);
  yield* wasmRules(spec, []);
  yield* matchRules(spec.match);
}

/** @see docs/how-istio-does-it/kind-rules.md#trafficextension */
export function* trafficExtensionRules(spec: TrafficExtension): Generator<Finding> {
  yield* policyTargetRules(spec);
  if ((spec.wasm === undefined) === (spec.lua === undefined)) {
    yield error([], "needs exactly one of wasm and lua", "", "missing-field");
  }
  if (spec.wasm !== undefined) yield* wasmRules(spec.wasm, ["wasm"]);
  if (spec.lua !== undefined) {
    const size = new TextEncoder().encode(spec.lua.inlineCode).length;
    if (size === 0 || size > 65536) yield error(["lua", "inlineCode"], `has ${size} bytes`, "1 to 65536 are allowed");
    yield* inlineSecretRules(spec.lua.inlineCode, ["lua", "inlineCode"]);
  }
  yield* matchRules(spec.match);
}

function* matchRules(match: readonly TrafficSelector[] | undefined): Generator<Finding> {
  yield* each(match, ["match"], (selector, path) =>
    each(selector.ports, [...path, "ports"], ({ number }, at) => portRules(number, [...at, "number"])),
  );
}

const schemes: ReadonlySet<string> = new Set(["", "file", "http", "https", "oci"]);

function* wasmRules(wasm: WasmConfig, path: Path): Generator<Finding> {
  const { url, sha256, imagePullSecret, pluginName, vmConfig } = wasm;
  if (url === "") yield error([...path, "url"], "is required", "", "missing-field");
  else {
    const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase() ?? "";
    const parsable = URL.canParse(url) || URL.canParse(`http://${url}`);
    if (!parsable) yield error([...path, "url"], `${JSON.stringify(url)} is not a URL`);
    else if (!schemes.has(scheme))
      yield error([...path, "url"], `${scheme} is not supported`, "use oci, http, https or file");
  }
  if (sha256 !== undefined && !/^[a-f0-9]{64}$/.test(sha256)) {
    yield error([...path, "sha256"], "is not 64 lower-case hexadecimal digits");
  }
  if ((imagePullSecret?.length ?? 0) > 253) yield error([...path, "imagePullSecret"], "is longer than 253 characters");
  if ((pluginName?.length ?? 0) > 256) yield error([...path, "pluginName"], "is longer than 256 characters");
  yield* inlineSecretRules(wasm.pluginConfig, [...path, "pluginConfig"]);
  yield* inlineSecretRules(vmConfig, [...path, "vmConfig"]);
  const env = vmConfig?.env ?? [];
  const at = [...path, "vmConfig", "env"];
  yield* each(env, at, function* (variable, where) {
    if (variable.name === "") yield error([...where, "name"], "is required", "", "missing-field");
    if (variable.name.length > 256) yield error([...where, "name"], "is longer than 256 characters");
    if (variable.valueFrom === "HOST" && variable.value !== undefined) {
      yield error([...where, "value"], "has no meaning with valueFrom HOST", "", "conflicting-fields");
    }
  });
  for (const [index, name] of duplicates(env.map((variable) => variable.name))) {
    yield error([...at, index, "name"], `${JSON.stringify(name)} is given twice`);
  }
}
