import { z } from "zod";
import type { ProxyConfigResource } from "../kinds/proxy-config.ts";
import type { TrafficExtension, WasmPlugin } from "../kinds/wasm-plugin.ts";
import { message } from "./message.ts";
import { int32, stringMap, struct, text, uint32 } from "./scalars.ts";
import { policyTarget, workloadSelector } from "./selector.ts";

const trafficSelector = message({
  plain: {
    mode: z.enum(["UNDEFINED", "CLIENT", "SERVER", "CLIENT_AND_SERVER"]),
    ports: message({ required: { number: uint32.default(0) } }).array(),
  },
}).array();

const wasm = {
  required: { url: text.default("") },
  plain: {
    sha256: text,
    imagePullPolicy: z.enum(["UNSPECIFIED_POLICY", "IfNotPresent", "Always"]),
    imagePullSecret: text,
    verificationKey: text,
    pluginName: text,
    failStrategy: z.enum(["FAIL_CLOSE", "FAIL_OPEN", "FAIL_RELOAD"]),
    type: z.enum(["UNSPECIFIED_PLUGIN_TYPE", "HTTP", "NETWORK"]),
  },
  kept: {
    pluginConfig: struct,
    vmConfig: message({
      plain: {
        env: message({
          required: { name: text.default("") },
          plain: { valueFrom: z.enum(["INLINE", "HOST"]), value: text },
        }).array(),
      },
    }),
  },
} as const;

export const wasmPlugin: z.ZodType<WasmPlugin> = message({
  required: wasm.required,
  plain: {
    ...wasm.plain,
    ...policyTarget.plain,
    phase: z.enum(["UNSPECIFIED_PHASE", "AUTHN", "AUTHZ", "STATS"]),
    match: trafficSelector,
  },
  kept: { ...wasm.kept, ...policyTarget.kept, priority: int32 },
});

export const trafficExtension: z.ZodType<TrafficExtension> = message({
  plain: {
    ...policyTarget.plain,
    phase: z.enum(["UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"]),
    match: trafficSelector,
  },
  kept: {
    selector: workloadSelector,
    priority: int32,
    wasm: message(wasm),
    lua: message({ required: { inlineCode: text.default("") } }),
  },
});

export const proxyConfigResource: z.ZodType<ProxyConfigResource> = message({
  plain: { environmentVariables: stringMap },
  kept: { selector: workloadSelector, concurrency: int32, image: message({ plain: { imageType: text } }) },
});
