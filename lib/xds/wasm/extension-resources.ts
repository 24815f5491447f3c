import type { TypedExtensionConfigJson } from "../../../gen/envoy/config/core/v3/extension_pb.ts";
import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { WasmConfig } from "../../config/kinds/wasm-plugin.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
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
  const { build } = view.proxy;
  const made = plugins.map((plugin) => resourceOf(memo, { plugin, build }, source).value);
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

const pluginsOf = query(
  "Wasm of a workload",
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

const pluginOf = query("Wasm of an object", { path: "value" }, (plugin: Plugin): Plugin => plugin);

const resourceOf = trackedQuery(
  "extension configuration with Wasm",
  (
    { plugin, build }: { readonly plugin: Plugin; readonly build: ListenerView["proxy"]["build"] },
    providers: ScopedProviders,
  ): Stage<ExtensionConfig> => {
    const { config, name, wasm } = plugin;
    const { namespace } = config.meta;
    const { resolvedSha256: module, ...written } = wasm;
    const { place, remedy } = placeOf(written, providers);
    const layer = wasm.type === "NETWORK" ? "network" : "http";
    const settings = { config: wasmConfig(`${namespace}.${name}`, written, place) };
    const resource: ExtensionConfig = {
      name: extensionName(namespace, name),
      json: {
        name: extensionName(namespace, name),
        typedConfig: packAny(`envoy.extensions.filters.${layer}.wasm.v3.Wasm`, settings),
      },
      from: [keyOf(config)],
      ...(remedy === undefined || module === undefined ? {} : { module }),
      ...(build === "istio" ? { hasIstioAgent: true } : {}),
    };
    return {
      value: resource,
      diagnostics: remedy === undefined || module !== undefined ? [] : [notFetched(plugin, remedy)],
    };
  },
);

/** What is said of code that a resolver fetches. */
const fetching = "`portolan status` has the reason; `portolan resolve` tries again now";

interface Placed {
  readonly place: CodePlace;
  /** What would let an Envoy have the code; absent where it fetches it by itself. */
  readonly remedy?: string;
}

function placeOf({ url, sha256 = "" }: WasmConfig, providers: ScopedProviders): Placed {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  if (scheme === "file") return { place: { kind: "file", path: url.slice("file://".length) } };
  if (scheme !== "http" && scheme !== "https")
    return {
      place: { kind: "agent", url: scheme === undefined ? `oci://${url}` : url },
      remedy: fetching,
    };
  const { hostname, port } = new URL(url);
  const number = port === "" ? (scheme === "https" ? 443 : 80) : Number(port);
  const target = providerCluster(providers, { service: hostname, port: number });
  const isReached = target !== undefined && providers.isInScope(target.hostname, number);
  if (sha256 === "") {
    const remedy =
      scheme === "https" ? fetching : "write the code's sha256, or https: clear text can be exchanged on its way";
    return { place: { kind: "agent", url }, remedy };
  }
  return isReached
    ? { place: { kind: "cluster", cluster: target.cluster, url, sha256 } }
    : {
        place: { kind: "agent", url },
        remedy: `${fetching}. Where ${hostname} is declared as a service (ServiceEntry) with port ${number}, Envoys fetch it by themselves`,
      };
}

function notFetched({ config, wasm, path }: Plugin, remedy: string): Diagnostic {
  const instead = wasm.failStrategy === "FAIL_OPEN" ? "lets everything pass" : "refuses everything";
  return {
    code: "wasm-not-fetched",
    severity: "warning",
    origin: config.origin,
    path: [...path, "url"],
    message: `this code has not been fetched: an Envoy without Istio's agent has a filter in its place that ${instead}`,
    hint: remedy,
  };
}
