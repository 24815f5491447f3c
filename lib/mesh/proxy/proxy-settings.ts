import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { at, warning } from "../../config/finding.ts";
import type { MeshConfig, ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { ProxyConfigResource } from "../../config/kinds/proxy-config.ts";
import { mergeProxyConfig } from "../../config/read-mesh-config.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import { groupBy } from "../group-by.ts";

/** ProxyConfig objects of all namespaces, the oldest first. */
export type ProxyConfigObjects = ReadonlyMap<string, readonly Config<ProxyConfigResource>[]>;

/** Those that apply to one workload, one a level. */
export interface ProxyConfigLayers {
  /** Without selector, of the root namespace. */
  readonly mesh: Config<ProxyConfigResource> | undefined;
  /** Without selector, of the workload's own namespace; undefined in the root namespace. */
  readonly namespace: Config<ProxyConfigResource> | undefined;
  /** Selects the workload. */
  readonly workload: Config<ProxyConfigResource> | undefined;
}

/**
 * @param configs the oldest first
 * @returns the objects by namespace; diagnostics `proxy-config-shadowed`, of those that an older one hides
 */
export function proxyConfigObjects(configs: readonly Config<ProxyConfigResource>[]): Stage<ProxyConfigObjects> {
  const value = groupBy(configs, ({ meta }) => meta.namespace);
  const diagnostics = [...value.values()].flatMap((objects) => {
    const [first, ...others] = objects.filter(isGeneral);
    return first === undefined ? [] : others.map((other) => shadowed(other, first));
  });
  return { value, diagnostics };
}

/** Of several objects of one level the oldest counts. A selector without labels selects nothing. */
export function layersFor(
  objects: ProxyConfigObjects,
  rootNamespace: string,
  namespace: string,
  labels: Labels,
): ProxyConfigLayers {
  const own = objects.get(namespace) ?? [];
  return {
    mesh: objects.get(rootNamespace)?.find(isGeneral),
    namespace: namespace === rootNamespace ? undefined : own.find(isGeneral),
    workload: own.find(({ spec }) => {
      const wanted = spec.selector?.matchLabels ?? {};
      return Object.keys(wanted).length > 0 && isSubset(wanted, labels);
    }),
  };
}

/**
 * The ProxyConfig that injection writes into a pod: the mesh's, then the objects for the root namespace and the namespace,
 * the pod's annotation, and last the object that selects the workload. The agent lays the annotation over it once more.
 *
 * @see docs/how-istio-does-it/nodes.md#injection
 * @see istio 1.30.3 pilot/pkg/model/proxy_config.go, EffectiveProxyConfig
 */
export function injectedSettings(
  { defaultConfig }: Pick<MeshConfig, "defaultConfig">,
  { mesh, namespace, workload }: ProxyConfigLayers,
  annotation: Partial<ProxyConfig>,
): ProxyConfig {
  return overlaid(defaultConfig, [settingsOf(mesh), settingsOf(namespace), annotation, settingsOf(workload)]);
}

/** Settings with others laid over them, one after the other; the very ones where these say nothing, as of most pods. */
export function overlaid(settings: ProxyConfig, layers: readonly Partial<ProxyConfig>[]): ProxyConfig {
  let over = settings;
  for (const layer of layers) if (!isEmpty(layer)) over = mergeProxyConfig(over, layer);
  return over;
}

function isEmpty(layer: Partial<ProxyConfig>): boolean {
  for (const _ in layer) return false;
  return true;
}

function settingsOf(object: Config<ProxyConfigResource> | undefined): Partial<ProxyConfig> {
  if (object === undefined) return noSettings;
  const { concurrency, environmentVariables, image } = object.spec;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(environmentVariables === undefined ? {} : { proxyMetadata: environmentVariables }),
    ...(image === undefined ? {} : { image }),
  };
}

const noSettings: Partial<ProxyConfig> = {};

const isGeneral = ({ spec }: Config<ProxyConfigResource>): boolean => spec.selector === undefined;

function shadowed({ origin }: Config, older: Config): Diagnostic {
  const finding = warning(
    [],
    `ProxyConfig ${older.meta.name} of the namespace is older and has no selector either: this one has no effect`,
    "give it a selector, or remove one of them",
    "proxy-config-shadowed",
  );
  return at(origin, finding);
}
