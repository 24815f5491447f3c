import { interceptionMode, type TemplateInput } from "./context.ts";
import { appContainersOf, identityEnvironment, metadataEnvironment, workloadEnvironment } from "./environment.ts";
import type { Container, PodOverlay, Volume } from "./pod.ts";
import { overlayAnnotations, podInfoVolume, proxyUser, pulling, resourcesOf, tokenVolume } from "./shared-parts.ts";
import { sidecarLabels } from "./sidecar.ts";

const statusPort = 15_020;
const ready = { httpGet: { path: "/healthz/ready", port: statusPort } };
const tokenFolder = "/var/run/secrets/portolan";
const agentFolder = "/var/lib/portolan-agent";

/** A native sidecar that runs Portolan's agent and a stock Envoy, as `infra/kubernetes/sidecar.yaml` has it. */
export function agentTemplate(input: TemplateInput): PodOverlay {
  const isCaptured = interceptionMode(input) !== "NONE";
  return {
    metadata: { labels: sidecarLabels(input), annotations: overlayAnnotations(input) },
    spec: {
      initContainers: [...(isCaptured ? [interceptContainer(input)] : []), agentContainer(input)],
      volumes: agentVolumes(input),
      ...pulling(input),
    },
  };
}

function interceptContainer({ values }: TemplateInput): Container {
  return {
    name: "portolan-intercept",
    image: values.portolan.agentImage,
    command: ["sh", "-c", "node /portolan/commands/index.mjs intercept | sh"],
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    securityContext: {
      runAsUser: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] },
    },
  };
}

function agentContainer(input: TemplateInput): Container {
  const { agentImage, server } = input.values.portolan;
  const { imagePullPolicy } = input.values.global;
  return {
    name: "portolan-agent",
    image: agentImage,
    restartPolicy: "Always",
    args: ["--token-file", `${tokenFolder}/token`, "--dir", agentFolder],
    env: [
      { name: "PORTOLAN_SERVER", value: server },
      ...identityEnvironment(),
      { name: "ISTIO_META_APP_CONTAINERS", value: appContainersOf(input).join(",") },
      ...workloadEnvironment(input, "sidecar"),
      ...metadataEnvironment(input),
    ],
    ports: [
      { name: "status", containerPort: statusPort, protocol: "TCP" },
      { name: "http-envoy-prom", containerPort: 15_090, protocol: "TCP" },
    ],
    ...(imagePullPolicy === "" ? {} : { imagePullPolicy }),
    startupProbe: { ...ready, periodSeconds: 1, failureThreshold: 600 },
    readinessProbe: { ...ready, periodSeconds: 15, failureThreshold: 4 },
    resources: resourcesOf(input),
    securityContext: {
      runAsUser: proxyUser,
      runAsGroup: proxyUser,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      { name: "portolan-agent", mountPath: agentFolder },
      { name: "istio-podinfo", mountPath: "/etc/istio/pod" },
      { name: "portolan-token", mountPath: tokenFolder },
    ],
  };
}

const agentVolumes = ({ values }: TemplateInput): readonly Volume[] => [
  { name: "portolan-agent", emptyDir: { medium: "Memory", sizeLimit: "256Mi" } },
  podInfoVolume("istio-podinfo"),
  tokenVolume("portolan-token", {
    path: "token",
    audience: values.portolan.tokenAudience,
    expirationSeconds: 3_600,
  }),
];
