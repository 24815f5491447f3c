import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { Diagnostic, Stage } from "../../config/diagnostic.ts";
import type { WasmConfig } from "../../config/kinds/wasm-plugin.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { step } from "../../mesh/memo/step.ts";
import { tracedStep } from "../../mesh/memo/traced-step.ts";
import type { ListenerView, WorkloadPolicies } from "../../mesh/views/views.ts";
import { packAny } from "../core-messages.ts";
import { extensionName, translatedPluginName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { providerCluster, type ScopedProviders, scopedProviders } from "../telemetry/provider-cluster.ts";
import { type CodePlace, wasmConfig } from "./wasm-config.ts";

type ExtensionConfig = Resource<TypedExtensionConfigJson>;

/**
 * What Wasm filters ask for by name (ECDS): the extensions of the workload, whichever of its chains they stand in. Lua stands in the
 * chains themselves.
 *
 * @see docs/how-istio-does-it/extensions.md#what-is-discovered
 */
export function wasmResources(view: ListenerView, memo: Memo): Stage<readonly ExtensionConfig[]> {
  const { wasmPlugins, trafficExtensions } = view.policies;
  const plugins = pluginsOf(memo, { wasmPlugins, trafficExtensions });
  if (plugins.length === 0) return none;
  const source = scopedProviders(view);
  const made = plugins.map((plugin) => resourceOf(memo, { plugin }, source).value);
  return { value: made.map(({ value }) => value), diagnostics: made.flatMap(({ diagnostics }) => diagnostics) };
}

const none: Stage<readonly ExtensionConfig[]> = { value: [], diagnostics: [] };

/** An object with Wasm in it, of either kind. */
interface Plugin {
  readonly config: Config;
  /** As an extension. */
  readonly name: string;
  readonly wasm: WasmConfig;
  /** Of `wasm` in its object. */
  readonly path: Diagnostic["path"];
}

const pluginsOf = step(
  "Wasm of a workload",
  { wasmPlugins: "identity", trafficExtensions: "identity" },
  (objects: Pick<WorkloadPolicies, "wasmPlugins" | "trafficExtensions">, memo: Memo): readonly Plugin[] => [
    ...objects.wasmPlugins.map((config) =>
      pluginOf(memo, { config, name: translatedPluginName(config.meta.name), wasm: config.spec, path: ["spec"] }),
    ),
    ...objects.trafficExtensions.flatMap((config) => {
      const { wasm } = config.spec;
      return wasm === undefined
        ? []
        : [pluginOf(memo, { config, name: config.meta.name, wasm, path: ["spec", "wasm"] })];
    }),
  ],
);

const pluginOf = step(
  "Wasm of an object",
  { config: "identity", name: "value", wasm: "identity", path: "value" },
  (plugin: Plugin): Plugin => plugin,
);

const resourceOf = tracedStep(
  "extension configuration with Wasm",
  { plugin: "identity" },
  ({ plugin }: { readonly plugin: Plugin }, providers: ScopedProviders): Stage<ExtensionConfig> => {
    const { config, name, wasm } = plugin;
    const { namespace } = config.meta;
    const { place, remedy } = placeOf(wasm, providers);
    const layer = wasm.type === "NETWORK" ? "network" : "http";
    const settings = { config: wasmConfig(`${namespace}.${name}`, wasm, place) };
    const resource: ExtensionConfig = {
      name: extensionName(namespace, name),
      json: {
        name: extensionName(namespace, name),
        typedConfig: packAny(`envoy.extensions.filters.${layer}.wasm.v3.Wasm`, settings),
      },
      from: [keyOf(config)],
    };
    return { value: resource, diagnostics: remedy === undefined ? [] : [notFetched(plugin, remedy)] };
  },
);

interface Placed {
  readonly place: CodePlace;
  /** What would let an Envoy fetch the code itself; absent where it can. */
  readonly remedy?: string;
}

function placeOf({ url, sha256 = "" }: WasmConfig, providers: ScopedProviders): Placed {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  if (scheme === "file") return { place: { kind: "file", path: url.slice("file://".length) } };
  if (scheme !== "http" && scheme !== "https")
    return {
      place: { kind: "agent", url: scheme === undefined ? `oci://${url}` : url },
      remedy: "serve the code over http or https, with a sha256, for Envoys without Istio's agent",
    };
  const { hostname, port } = new URL(url);
  const number = port === "" ? (scheme === "https" ? 443 : 80) : Number(port);
  const target = providerCluster(providers, { service: hostname, port: number });
  const isReached = target !== undefined && providers.isInScope(target.hostname, number);
  if (sha256 === "")
    return { place: { kind: "agent", url }, remedy: "write the code's sha256: Envoy takes none without one" };
  return isReached
    ? { place: { kind: "cluster", cluster: target.cluster, url, sha256 } }
    : {
        place: { kind: "agent", url },
        remedy: `declare port ${number} of ${hostname} as a service (ServiceEntry), so that Envoy has a cluster to fetch from`,
      };
}

function notFetched({ config, wasm, path }: Plugin, remedy: string): Diagnostic {
  const instead = wasm.failStrategy === "FAIL_OPEN" ? "lets everything pass" : "refuses everything";
  return {
    code: "wasm-not-fetched",
    severity: "warning",
    origin: config.origin,
    path: [...path, "url"],
    message: `only Istio's agent can fetch this code: what stands at an Envoy that polls is a filter that ${instead}`,
    hint: remedy,
  };
}
