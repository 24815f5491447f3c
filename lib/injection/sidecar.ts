import type { Fields } from "../base/untyped.ts";
import { canonicalLabels, canonicalName, canonicalRevision } from "../mesh/proxy/canonical-service.ts";
import { tlsModeLabel } from "../registry/labels.ts";
import { annotated, imageOf, interceptionMode, statusPortOf, type TemplateInput } from "./context.ts";
import { agentEnvironment } from "./environment.ts";
import { cniAnnotations, initContainer } from "./interception.ts";
import { type Container, labelsOf, type PodOverlay, proxyName } from "./pod.ts";
import {
  agentMounts,
  agentVolumes,
  logArguments,
  overlayAnnotations,
  proxyUser,
  pulling,
  resourcesOf,
  valueArguments,
} from "./shared-parts.ts";

/**
 * A sidecar that runs Istio's agent.
 *
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/injection-template.yaml
 */
export function sidecarTemplate(input: TemplateInput): PodOverlay {
  const { isNative } = input;
  const init = initContainer(input);
  const proxy = proxyContainer(input);
  const inits = [...(init === undefined ? [] : [init]), ...(isNative ? [proxy] : [])];
  return {
    metadata: {
      labels: sidecarLabels(input),
      annotations: { ...overlayAnnotations(input), ...cniAnnotations(input) },
    },
    spec: {
      ...(inits.length === 0 ? {} : { initContainers: inits }),
      ...(isNative ? {} : { containers: [proxy] }),
      volumes: agentVolumes(input, "sidecar"),
      ...pulling(input),
    },
  };
}

const maxLabel = 63;

/** A name as the value of a label. */
export const asLabel = (name: string): string => name.slice(0, maxLabel).replace(/^[-_.]+|[-_.]+$/g, "");

/** Labels of a pod whose proxy takes mutual TLS; those that it has stay. */
export function sidecarLabels({ pod, owner, proxyConfig }: TemplateInput): Readonly<Record<string, string>> {
  const labels = labelsOf(pod);
  const canonical = canonicalLabels(labels, owner.name);
  const hasTunnel = proxyConfig.proxyMetadata.ISTIO_META_ENABLE_HBONE === "true";
  return {
    [tlsModeLabel]: labels[tlsModeLabel] || "istio",
    ...(hasTunnel ? { "networking.istio.io/tunnel": labels["networking.istio.io/tunnel"] || "http" } : {}),
    [canonicalName]: asLabel(canonical[canonicalName]),
    [canonicalRevision]: canonical[canonicalRevision],
  };
}

function proxyContainer(input: TemplateInput): Container {
  const { isNative, proxyConfig, values } = input;
  const { global } = values;
  const { proxy } = global;
  const lifecycle = lifecycleOf(input);
  const hasProbes = statusPortOf(input) !== "0";
  return {
    name: proxyName,
    image: imageOf(input, proxy.image, proxyConfig.image?.imageType ?? ""),
    ...(isNative ? { restartPolicy: "Always" } : {}),
    ports: [{ containerPort: 15_090, protocol: "TCP", name: "http-envoy-prom" }],
    args: [
      ...["proxy", "sidecar", "--domain", `$(POD_NAMESPACE).svc.${proxy.clusterDomain}`],
      ...logArguments(input),
      ...valueArguments(input),
      ...(proxy.outlierLogPath === "" ? [] : [`--outlierLogPath=${proxy.outlierLogPath}`]),
    ],
    ...(lifecycle === undefined ? {} : { lifecycle }),
    env: agentEnvironment(input, "sidecar"),
    ...(global.imagePullPolicy === "" ? {} : { imagePullPolicy: global.imagePullPolicy }),
    ...(hasProbes && proxy.startupProbe.enabled
      ? { startupProbe: startupProbe(proxy.startupProbe.failureThreshold) }
      : {}),
    ...(hasProbes ? { readinessProbe: readinessProbe(input) } : {}),
    securityContext: securityOf(input),
    resources: resourcesOf(input),
    volumeMounts: agentMounts(input, "sidecar"),
  };
}

/** Holds the workload until the proxy is ready, or lets a native sidecar drain while the pod ends. */
function lifecycleOf(input: TemplateInput): Fields | undefined {
  const { isNative, values, proxyConfig } = input;
  const { lifecycle, holdApplicationUntilProxyStarts } = values.global.proxy;
  if (Object.keys(lifecycle).length > 0) return lifecycle;
  const holds = (proxyConfig.holdApplicationUntilProxyStarts ?? false) || holdApplicationUntilProxyStarts;
  if (holds && !isNative) return { postStart: { exec: { command: ["pilot-agent", "wait"] } } };
  if (!isNative) return undefined;
  const port = statusPortOf(input);
  return { preStop: { exec: { command: ["pilot-agent", "request", `--debug-port=${port}`, "POST", "drain"] } } };
}

const ready = { path: "/healthz/ready", port: 15_021 };

const startupProbe = (failureThreshold: number): Fields => ({
  httpGet: ready,
  initialDelaySeconds: 0,
  periodSeconds: 1,
  timeoutSeconds: 3,
  failureThreshold,
});

function readinessProbe(input: TemplateInput): Fields {
  const { proxy } = input.values.global;
  const of = (name: string, usual: number) =>
    Number(annotated(input, `readiness.status.sidecar.istio.io/${name}`, usual));
  return {
    httpGet: ready,
    initialDelaySeconds: of("initialDelaySeconds", proxy.readinessInitialDelaySeconds),
    periodSeconds: of("periodSeconds", proxy.readinessPeriodSeconds),
    timeoutSeconds: 3,
    failureThreshold: of("failureThreshold", proxy.readinessFailureThreshold),
  };
}

function securityOf(input: TemplateInput): Fields {
  const { privileged, capNetBindService, seccompProfile } = input.values.global.proxy;
  const profile = Object.keys(seccompProfile).length === 0 ? {} : { seccompProfile };
  if (input.proxyConfig.proxyMetadata.IPTABLES_TRACE_LOGGING === "true") {
    return {
      allowPrivilegeEscalation: true,
      capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
      privileged: true,
      readOnlyRootFilesystem: true,
      runAsGroup: proxyUser,
      runAsNonRoot: false,
      runAsUser: 0,
      ...profile,
    };
  }
  const added = [
    ...(interceptionMode(input) === "TPROXY" ? ["NET_ADMIN"] : []),
    ...(annotated(input, "sidecar.istio.io/capNetBindService", String(capNetBindService)) === "true"
      ? ["NET_BIND_SERVICE"]
      : []),
  ];
  const isRoot = added.length > 0;
  return {
    allowPrivilegeEscalation: privileged,
    capabilities: { ...(isRoot ? { add: added } : {}), drop: ["ALL"] },
    privileged,
    readOnlyRootFilesystem: true,
    runAsGroup: proxyUser,
    runAsNonRoot: !isRoot,
    runAsUser: isRoot ? 0 : proxyUser,
    ...profile,
  };
}
