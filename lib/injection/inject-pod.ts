import { PortolanError } from "../base/diagnostic.ts";
import { type Fields, fieldsOf, isFields, jsonIn, listIn, listOf, stringsOf, textOf } from "../base/untyped.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { injectedSettings, type ProxyConfigLayers } from "../mesh/proxy/proxy-settings.ts";
import { networkLabel } from "../registry/labels.ts";
import type { WorkloadOwner } from "../registry/service.ts";
import { agentTemplate } from "./agent-sidecar.ts";
import { checkedAnnotations } from "./annotations.ts";
import type { TemplateInput } from "./context.ts";
import { gatewayTemplate } from "./gateway.ts";
import { merged } from "./merge.ts";
import { mergedMetrics } from "./metrics.ts";
import { ordered, overridden, proxyMoved } from "./overrides.ts";
import {
  annotationsOf,
  containersOf,
  initContainersOf,
  labelsOf,
  nameOf,
  type Pod,
  podOf,
  proxyName,
  proxyOf,
} from "./pod.ts";
import { rewrittenProbes } from "./probes.ts";
import { sidecarTemplate } from "./sidecar.ts";
import { injectedBefore, statusAnnotation, statusText, withoutInjected } from "./status.ts";
import type { InjectionValues } from "./values.ts";

export interface InjectionOptions {
  readonly values: InjectionValues;
  readonly meshConfig: MeshConfig;
  /** ProxyConfig objects for this pod. */
  readonly layers: ProxyConfigLayers;
  readonly owner: WorkloadOwner;
  readonly namespace: string;
  /** Whether all nodes are known to run native sidecars; false when absent. */
  readonly isNativeByNodes?: boolean;
}

const builtIn: Readonly<Record<string, (input: TemplateInput) => Fields>> = {
  sidecar: (input) => ({ ...sidecarTemplate(input) }),
  gateway: (input) => ({ ...gatewayTemplate(input) }),
  portolan: (input) => ({ ...agentTemplate(input) }),
};

const probersVariable = "ISTIO_KUBE_APP_PROBERS";
const metricsVariable = "ISTIO_PROMETHEUS_ANNOTATIONS";

/**
 * A pod with a proxy in it. One that has been injected before is injected anew.
 *
 * @throws PortolanError for an annotation that cannot be read, and for a template that is not there
 * @see istio 1.30.3 pkg/kube/inject/webhook.go, injectPod
 */
export function injectPod(written: Pod, options: InjectionOptions): Pod {
  const { values, meshConfig, layers, owner, namespace, isNativeByNodes = false } = options;
  const said = checkedAnnotations(annotationsOf(written));
  const before = valuesBefore(written);
  const pod = withoutInjected(written);
  const { global, pilot } = values;
  const network = labelsOf(pod)[networkLabel] ?? global.network;
  const wanted = String(pilot.env.ENABLE_NATIVE_SIDECARS);
  const native =
    annotationsOf(pod)["sidecar.istio.io/nativeSidecar"] ?? String(wanted === "auto" ? isNativeByNodes : wanted);
  const input: TemplateInput = {
    pod,
    owner,
    namespace,
    meshConfig,
    proxyConfig: injectedSettings(meshConfig, layers, said.settings),
    values,
    revision: values.revision || "default",
    isNative: native === "true",
    clusterId: global.multiCluster.clusterName || "Kubernetes",
    network,
  };
  const overlays = templatesOf(input).map((name) => overlayOf(name, input));
  const overlay = podOf(overlays.reduce<Fields>((under, over) => merged(under, over), {}));
  const own = proxyMoved(pod, overlay);
  const laid = overlays.reduce<Fields>((under, over) => merged(under, over), { ...own });
  const finished = overridden(podOf(laid), pod, overlay, input.proxyConfig);
  return ordered(postProcessed(finished, { ...input, before, overlay }), holdsApplication(input));
}

/** What the agent of an earlier injection asked the workload. */
function valuesBefore(pod: Pod): Readonly<Record<string, string>> {
  if (!injectedBefore(pod)) return {};
  const variables = listIn(proxyOf(pod), "env").map(fieldsOf);
  return Object.fromEntries(
    variables
      .filter(({ name }) => name === probersVariable || name === metricsVariable)
      .map(({ name, value }) => [name, textOf(value)]),
  );
}

/** Each is laid over the pod as a whole. */
const maxTemplates = 32;

function templatesOf({ pod, values }: TemplateInput): readonly string[] {
  const named = annotationsOf(pod)["inject.istio.io/templates"];
  if (named !== undefined) {
    const names = named.split(",", maxTemplates + 1).map((name) => name.trim());
    if (names.length > maxTemplates)
      throw new PortolanError(`the annotation inject.istio.io/templates names more than ${maxTemplates} templates`);
    return names;
  }
  const { defaultTemplates } = values.sidecarInjectorWebhook;
  return defaultTemplates.length === 0 ? ["sidecar"] : defaultTemplates;
}

function overlayOf(name: string, input: TemplateInput): Fields {
  const { templates } = input.values.portolan;
  const own = Object.hasOwn(templates, name) ? templates[name] : undefined;
  const made = own ?? (Object.hasOwn(builtIn, name) ? builtIn[name]?.(input) : undefined);
  if (made !== undefined) return made;
  const known = [...Object.keys(builtIn), ...Object.keys(input.values.portolan.templates)].join(", ");
  throw new PortolanError(`requested template "${name}" not found; there are ${known}`);
}

const holdsApplication = ({ proxyConfig, values }: TemplateInput): boolean =>
  (proxyConfig.holdApplicationUntilProxyStarts ?? false) || values.global.proxy.holdApplicationUntilProxyStarts;

interface PostInput extends TemplateInput {
  readonly before: Readonly<Record<string, string>>;
  /** What the templates have put over the pod. */
  readonly overlay: Pod;
}

function postProcessed(pod: Pod, input: PostInput): Pod {
  const { values, meshConfig, before, overlay, network } = input;
  const usual = meshConfig.defaultConfig.statusPort;
  const own = Number(annotationsOf(pod)["status.sidecar.istio.io/port"] ?? usual);
  const variables: Record<string, string> = { ...before };
  let annotations = annotationsOf(pod);
  let next = pod;
  if (proxyOf(pod) !== undefined) {
    const metrics = mergedMetrics(pod, meshConfig.enablePrometheusMerge, usual);
    if (metrics !== undefined) annotations = metrics.annotations;
    if (metrics?.scrape !== undefined) variables[metricsVariable] = JSON.stringify(metrics.scrape);
    const wanted = annotations["sidecar.istio.io/rewriteAppHTTPProbers"];
    const rewrites =
      wanted === undefined ? values.sidecarInjectorWebhook.rewriteAppHTTPProbe : /^(1|t|true)$/i.test(wanted);
    const probes = rewrites ? rewrittenProbes(pod, { own, usual }) : undefined;
    if (probes?.probers !== undefined) {
      const earlier = jsonIn(before[probersVariable] ?? "");
      variables[probersVariable] = JSON.stringify({ ...probes.probers, ...(isFields(earlier) ? earlier : {}) });
    }
    next = withVariables(probes?.pod ?? pod, variables);
    const metricsPort = listIn(proxyOf(next), "env")
      .map(fieldsOf)
      .find(({ name }) => name === "ENVOY_SECURE_MERGED_METRICS_PORT");
    const port = textOf(metricsPort?.value);
    if (port !== "" && port !== "0" && annotations[securePort] === undefined)
      annotations = { ...annotations, [securePort]: port };
  }
  return {
    ...next,
    metadata: {
      ...next.metadata,
      labels: { ...stringsOf(next.metadata.labels), ...(network === "" ? {} : { [networkLabel]: network }) },
      annotations: {
        ...annotations,
        [statusAnnotation]: statusText(overlay, input.revision),
        ...values.sidecarInjectorWebhook.injectedAnnotations,
      },
    },
  };
}

const securePort = "prometheus.istio.io/secure-port";

/** Variables of the proxy, behind those that it has. */
function withVariables(pod: Pod, variables: Readonly<Record<string, string>>): Pod {
  const added = Object.entries(variables).map(([name, value]) => ({ name, value }));
  if (added.length === 0) return pod;
  const give = (container: Fields): Fields => {
    if (nameOf(container) !== proxyName) return container;
    const kept = listOf(container.env).filter((one) => !Object.hasOwn(variables, textOf(fieldsOf(one).name)));
    return { ...container, env: [...kept, ...added] };
  };
  const { initContainers, ...spec } = pod.spec;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainersOf(pod).map(give) }),
      containers: containersOf(pod).map(give),
    },
  };
}
