import type { PolicyTarget, WorkloadMode } from "./selector.ts";

/** `extensions.istio.io` WasmPlugin. @see https://istio.io/latest/docs/reference/config/proxy_extensions/wasm-plugin/ */
export interface WasmPlugin extends PolicyTarget, WasmConfig {
  readonly pluginName?: string;
  /** Absent: UNSPECIFIED_PHASE, the end of the chain before the router. */
  readonly phase?: "UNSPECIFIED_PHASE" | "AUTHN" | "AUTHZ" | "STATS";
  /** Wrapper; absent: 0. Higher runs first. */
  readonly priority?: number;
  readonly match?: readonly TrafficSelector[];
}

/** The parts that WasmPlugin and TrafficExtension share. */
export interface WasmConfig {
  /** `oci://`, `http(s)://`, `file://`; no scheme: oci. */
  readonly url: string;
  readonly sha256?: string;
  /** SHA-256 of the module that a resolver has fetched; nobody writes it. */
  readonly resolvedSha256?: string;
  readonly imagePullPolicy?: "UNSPECIFIED_POLICY" | "IfNotPresent" | "Always";
  readonly imagePullSecret?: string;
  readonly verificationKey?: string;
  readonly pluginConfig?: Readonly<Record<string, unknown>>;
  readonly pluginName?: string;
  /** Absent: FAIL_CLOSE. */
  readonly failStrategy?: "FAIL_CLOSE" | "FAIL_OPEN" | "FAIL_RELOAD";
  readonly vmConfig?: VmConfig;
  /** Absent or UNSPECIFIED_PLUGIN_TYPE: HTTP. */
  readonly type?: "UNSPECIFIED_PLUGIN_TYPE" | "HTTP" | "NETWORK";
}

export interface VmConfig {
  readonly env?: readonly EnvVar[];
}

export interface EnvVar {
  readonly name: string;
  /** Absent: INLINE. */
  readonly valueFrom?: "INLINE" | "HOST";
  readonly value?: string;
}

export interface TrafficSelector {
  readonly mode?: WorkloadMode;
  readonly ports?: readonly { readonly number: number }[];
}

/**
 * `extensions.istio.io` TrafficExtension: exactly one of `wasm` and `lua`.
 * @see https://istio.io/latest/docs/reference/config/proxy_extensions/traffic-extension/
 */
export interface TrafficExtension extends PolicyTarget {
  readonly phase?: "UNSPECIFIED" | "AUTHN" | "AUTHZ" | "STATS";
  readonly priority?: number;
  readonly match?: readonly TrafficSelector[];
  readonly wasm?: WasmConfig;
  readonly lua?: { readonly inlineCode: string };
}
