import type { AnalysisCode } from "../base/diagnostic-codes.ts";
import { fieldsOf, listOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import { at } from "../config/finding.ts";
import type { AuthorizationPolicy } from "../config/kinds/authorization-policy.ts";
import type { EnvoyConfigObjectPatch, EnvoyFilter } from "../config/kinds/envoy-filter.ts";
import type { Sidecar } from "../config/kinds/sidecar.ts";
import type { Telemetry } from "../config/kinds/telemetry.ts";
import type { WorkloadEntry } from "../config/kinds/workload-entry.ts";
import type { WorkloadGroup } from "../config/kinds/workload-group.ts";
import { isSubset, type Labels } from "../config/values/labels.ts";
import type { Analysis, Workload } from "./analysis-input.ts";
import { type Analyzer, found, notFound } from "./analyzer.ts";
import { labelText } from "./gateway-analyzers.ts";

/** At most one object of a kind may select a pod, and at most one of a namespace may have no selector. */
function* selectorConflicts(
  analysis: Analysis,
  configs: readonly {
    readonly config: Config;
    readonly selector: Labels | undefined;
    readonly path: readonly string[];
  }[],
  codes: { readonly several: AnalysisCode; readonly withoutSelector: AnalysisCode },
) {
  for (const [namespace, here] of Map.groupBy(configs, ({ config }) => config.meta.namespace)) {
    const plain = here.filter(({ selector }) => selector === undefined);
    for (const { config } of plain.length > 1 ? plain : []) {
      const names = plain
        .map((other) => other.config.meta.name)
        .sort()
        .join(", ");
      yield found(
        codes.withoutSelector,
        config,
        [],
        `${names} in namespace ${namespace} all have no selector`,
        "keep one of them",
      );
    }
    const meshWide = namespace === analysis.meshConfig.rootNamespace;
    const pods = analysis.pods.filter((pod) => meshWide || pod.namespace === namespace);
    for (const { config, selector, path } of here) {
      if (selector === undefined) continue;
      const mine = pods.filter((pod) => isSubset(selector, pod.labels));
      if (mine.length === 0) {
        yield notFound(config, path, "selector", labelText(selector));
        continue;
      }
      const rival = here.find(
        (other) =>
          other.config !== config &&
          other.selector !== undefined &&
          mine.some((pod) => isSubset(other.selector ?? {}, pod.labels)),
      );
      if (rival !== undefined) {
        yield found(codes.several, config, path, `selects workloads that ${rival.config.meta.name} selects too`);
      }
    }
  }
}

const sidecars: Analyzer = {
  name: "sidecar.SelectorAnalyzer",
  about: "each workload has one Sidecar",
  analyze: (analysis) =>
    selectorConflicts(
      analysis,
      analysis.ofKind<Sidecar>("Sidecar").map((config) => ({
        config,
        selector: config.spec.workloadSelector?.labels,
        path: ["spec", "workloadSelector"],
      })),
      { several: "IST0110", withoutSelector: "IST0111" },
    ),
};

const telemetrySelectors: Analyzer = {
  name: "telemetry.SelectorAnalyzer",
  about: "each workload has one Telemetry",
  analyze: (analysis) =>
    selectorConflicts(
      analysis,
      analysis
        .ofKind<Telemetry>("Telemetry")
        .filter(({ spec }) => spec.targetRef === undefined && spec.targetRefs === undefined)
        .map((config) => ({ config, selector: config.spec.selector?.matchLabels, path: ["spec", "selector"] })),
      { several: "IST0159", withoutSelector: "IST0160" },
    ),
};

const telemetryProviders: Analyzer = {
  name: "telemetry.ProviderAnalyzer",
  about: "Telemetry names providers, or the mesh has default ones",
  *analyze({ ofKind, meshConfig }) {
    if ((meshConfig.defaultProviders.accessLogging?.length ?? 0) > 0) return;
    for (const config of ofKind<Telemetry>("Telemetry")) {
      for (const [index, logging] of (config.spec.accessLogging ?? []).entries()) {
        if (logging.providers !== undefined || logging.disabled === true) continue;
        const message = "names no provider, and the mesh has no default one";
        yield found("IST0157", config, ["spec", "accessLogging", index], message, "give providers");
      }
    }
  },
};

const lightstep: Analyzer = {
  name: "telemetry.LightstepAnalyzer",
  about: "Telemetry uses no provider that is gone",
  *analyze({ ofKind, meshConfig }) {
    const gone = new Set(
      meshConfig.extensionProviders.filter((provider) => provider.lightstep !== undefined).map(({ name }) => name),
    );
    for (const config of ofKind<Telemetry>("Telemetry")) {
      for (const [index, { providers = [] }] of (config.spec.tracing ?? []).entries()) {
        if (!providers.some(({ name }) => gone.has(name))) continue;
        yield found("IST0002", config, ["spec", "tracing", index], "Lightstep is deprecated", "use OpenTelemetry");
      }
    }
  },
};

const authorization: Analyzer = {
  name: "auth.AuthorizationPoliciesAnalyzer",
  about: "policies select workloads, and name namespaces that exist",
  *analyze({ ofKind, pods, namespaces, meshConfig }) {
    const known = new Set(namespaces.map(({ name }) => name));
    for (const config of ofKind<AuthorizationPolicy>("AuthorizationPolicy")) {
      const labels = config.spec.selector?.matchLabels;
      const meshWide = config.meta.namespace === meshConfig.rootNamespace;
      const attached = config.spec.targetRef !== undefined || config.spec.targetRefs !== undefined;
      const here = pods.filter((pod) => meshWide || pod.namespace === config.meta.namespace);
      const nothing = !here.some((pod) => isSubset(labels ?? {}, pod.labels));
      if (!attached && nothing && (labels !== undefined || !meshWide)) {
        const message =
          labels === undefined
            ? "no workload is known in its namespace"
            : `no workload has the labels ${labelText(labels)}`;
        yield found("IST0127", config, labels === undefined ? [] : ["spec", "selector"], message);
      }
      if (known.size === 0) continue;
      for (const [index, rule] of (config.spec.rules ?? []).entries()) {
        for (const [position, { source }] of (rule.from ?? []).entries()) {
          for (const [place, name] of (source.namespaces ?? []).entries()) {
            if (namespaceExists(name, known)) continue;
            const path = ["spec", "rules", index, "from", position, "source", "namespaces", place];
            yield notFound(config, path, "namespace", name);
          }
        }
      }
    }
  },
};

function namespaceExists(pattern: string, known: ReadonlySet<string>): boolean {
  if (pattern === "*") return true;
  if (pattern.startsWith("*")) return [...known].some((name) => name.endsWith(pattern.slice(1)));
  if (pattern.endsWith("*")) return [...known].some((name) => name.startsWith(pattern.slice(0, -1)));
  return known.has(pattern);
}

const injectionLabel = "istio-injection";
const revisionLabel = "istio.io/rev";

const injection: Analyzer = {
  name: "injection.Analyzer",
  about: "namespaces say whether their pods get a proxy, and pods have one where they should",
  *analyze({ namespaces, pods, meshConfig }) {
    for (const namespace of namespaces) {
      const { labels, name } = namespace;
      if (name.startsWith("kube-") || name === meshConfig.rootNamespace) continue;
      const path = ["metadata", "labels"];
      if (labels[injectionLabel] !== undefined && labels[revisionLabel] !== undefined) {
        yield found(
          "IST0123",
          namespace,
          path,
          `has both ${injectionLabel} and ${revisionLabel}; the former counts`,
          "keep one",
        );
      }
      const injected = labels[injectionLabel] === "enabled" || labels[revisionLabel] !== undefined;
      if (labels[injectionLabel] === undefined && labels[revisionLabel] === undefined) {
        yield found(
          "IST0102",
          namespace,
          path,
          "does not say whether its pods get a proxy",
          `add ${injectionLabel}: enabled`,
        );
      }
      if (!injected) continue;
      for (const pod of pods) {
        if (pod.namespace !== name || pod.object.kind !== "Pod" || hasProxy(pod)) continue;
        yield found(
          "IST0103",
          pod,
          [],
          "has no proxy, although its namespace asks for one",
          "restart the pod, so that a proxy is injected",
        );
      }
    }
  },
};

function hasProxy(pod: Workload): boolean {
  if (pod.labels["sidecar.istio.io/inject"] === "false" || pod.annotations["sidecar.istio.io/inject"] === "false")
    return true;
  if (pod.labels["security.istio.io/tlsMode"] === "istio") return true;
  const spec = fieldsOf(pod.object.spec);
  const containers = [...listOf(spec.containers), ...listOf(spec.initContainers)];
  return containers.some((container) => fieldsOf(container).name === "istio-proxy");
}

/** What the compile says of a patch is about proxies that the filter selects; of one that selects none it says nothing. */
const filterSelectors: Analyzer = {
  name: "portolan.EnvoyFilterSelectorAnalyzer",
  about: "EnvoyFilters select proxies",
  *analyze({ ofKind, pods, namedProxies, meshConfig }) {
    const entries = ofKind<WorkloadEntry>("WorkloadEntry").map(({ meta, spec }) => ({
      namespace: meta.namespace,
      labels: { ...meta.labels, ...spec.labels },
    }));
    const groups = ofKind<WorkloadGroup>("WorkloadGroup").map(({ meta, spec }) => ({
      namespace: meta.namespace,
      labels: spec.metadata?.labels ?? {},
    }));
    const workloads = [...pods, ...namedProxies, ...entries, ...groups];
    for (const config of ofKind<EnvoyFilter>("EnvoyFilter")) {
      const labels = config.spec.workloadSelector?.labels ?? {};
      const isMeshWide = config.meta.namespace === meshConfig.rootNamespace;
      const here = workloads.filter(({ namespace }) => isMeshWide || namespace === config.meta.namespace);
      // Files of nothing but configuration tell of no workload.
      if (here.length === 0 || here.some((workload) => isSubset(labels, workload.labels))) continue;
      yield at(config.origin, {
        code: "envoy-filter-no-match",
        severity: "warning",
        path: ["spec", "workloadSelector"],
        message: `no workload ${isMeshWide ? "of the mesh" : `of namespace ${config.meta.namespace}`} has the labels ${labelText(labels)}, so no patch has an effect`,
        hint: "correct the labels; a filter counts in its own namespace, and in all where it is in the root namespace",
      });
    }
  },
};

const relative: ReadonlySet<string> = new Set(["INSERT_BEFORE", "INSERT_AFTER", "REPLACE", "REMOVE"]);

const envoyFilters: Analyzer = {
  name: "envoyfilter.EnvoyPatchAnalyzer",
  about: "patches do not depend on an order that is not guaranteed",
  *analyze({ ofKind }) {
    const filters = ofKind<EnvoyFilter>("EnvoyFilter");
    const versioned = new Set(
      filters.flatMap(({ spec }) =>
        (spec.configPatches ?? [])
          .filter((patch) => patch.match?.proxy?.proxyVersion !== undefined)
          .map((patch) => filterName(patch)),
      ),
    );
    for (const config of filters) {
      for (const [index, patch] of (config.spec.configPatches ?? []).entries()) {
        const { operation } = patch.patch;
        const path = ["spec", "configPatches", index, "patch", "operation"];
        if (relative.has(operation) && (config.spec.priority ?? 0) === 0) {
          const hint = "give a priority";
          const message = `${operation} depends on the other filters' order, and the EnvoyFilter has no priority`;
          yield found("IST0151", config, path, message, hint);
          if (filterName(patch) !== "" && versioned.has(filterName(patch))) {
            yield found(
              "IST0155",
              config,
              path,
              `${operation} meets patches of ${filterName(patch)} for single versions`,
              hint,
            );
          }
        }
        yield* misuses(config, patch, path);
      }
    }
  },
};

function filterName(patch: EnvoyConfigObjectPatch): string {
  const name = patch.patch.value?.name;
  return typeof name === "string" ? name : "";
}

function* misuses(
  config: Config<EnvoyFilter>,
  { applyTo, patch }: EnvoyConfigObjectPatch,
  path: readonly (string | number)[],
) {
  const route = applyTo === "ROUTE_CONFIGURATION" || applyTo === "HTTP_ROUTE";
  const replaceable = applyTo === "HTTP_FILTER" || applyTo === "NETWORK_FILTER" || applyTo === "VIRTUAL_HOST";
  const message = `${patch.operation} has no effect on ${applyTo}`;
  if (patch.operation === "REPLACE" && !replaceable) yield found("IST0152", config, path, message);
  if (patch.operation === "ADD" && route) yield found("IST0153", config, path, message);
  if (patch.operation === "REMOVE" && route) yield found("IST0154", config, path, message);
}

export const workloadAnalyzers: readonly Analyzer[] = [
  authorization,
  envoyFilters,
  filterSelectors,
  injection,
  lightstep,
  sidecars,
  telemetryProviders,
  telemetrySelectors,
];
