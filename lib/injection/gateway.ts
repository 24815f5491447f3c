import { canonicalLabels } from "../mesh/proxy/canonical-service.ts";
import { imageOf, type TemplateInput } from "./context.ts";
import { agentEnvironment } from "./environment.ts";
import { labelsOf, type PodOverlay, proxyName } from "./pod.ts";
import {
  agentMounts,
  agentVolumes,
  logArguments,
  overlayAnnotations,
  proxyUser,
  pulling,
  valueArguments,
} from "./shared-parts.ts";

/**
 * A pod that is a gateway, whose proxy is the workload.
 *
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/files/gateway-injection-template.yaml
 */
export function gatewayTemplate(input: TemplateInput): PodOverlay {
  const { pod, owner, values, proxyConfig } = input;
  const { global, gateways } = values;
  const { proxy } = global;
  const hasContext = Object.keys(gateways.securityContext).length > 0;
  const lowPorts = { sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] };
  return {
    metadata: {
      labels: { ...canonicalLabels(labelsOf(pod), owner.name) },
      annotations: overlayAnnotations(input),
    },
    spec: {
      securityContext: hasContext ? gateways.securityContext : lowPorts,
      containers: [
        {
          name: proxyName,
          image: imageOf(input, proxy.image, proxyConfig.image?.imageType ?? ""),
          ports: [{ containerPort: 15_090, protocol: "TCP", name: "http-envoy-prom" }],
          args: [
            ...["proxy", "router", "--domain", `$(POD_NAMESPACE).svc.${proxy.clusterDomain}`],
            ...logArguments(input),
            ...valueArguments(input),
          ],
          ...(Object.keys(proxy.lifecycle).length === 0 ? {} : { lifecycle: proxy.lifecycle }),
          securityContext: { runAsUser: proxyUser, runAsGroup: proxyUser },
          env: agentEnvironment(input, "router"),
          ...(global.imagePullPolicy === "" ? {} : { imagePullPolicy: global.imagePullPolicy }),
          readinessProbe: {
            httpGet: { path: "/healthz/ready", port: 15_021 },
            initialDelaySeconds: proxy.readinessInitialDelaySeconds,
            periodSeconds: proxy.readinessPeriodSeconds,
            timeoutSeconds: 3,
            failureThreshold: proxy.readinessFailureThreshold,
          },
          volumeMounts: agentMounts(input, "router"),
        },
      ],
      volumes: agentVolumes(input, "router"),
      ...pulling(input),
    },
  };
}
