import { z } from "zod";
import { PortolanError } from "../base/diagnostic.ts";
import { followedIstioVersion } from "../mesh/proxy/proxy-start.ts";

const quantities = z.record(z.string(), z.union([z.string(), z.number().transform(String), z.null()]));
const resources = z.object({ requests: quantities.optional(), limits: quantities.optional() });

const labelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: z.array(z.string()).default([]),
      }),
    )
    .default([]),
});

const proxy = z.object({
  image: z.string().default("proxyv2"),
  clusterDomain: z.string().default("cluster.local"),
  componentLogLevel: z.string().default("misc:error"),
  logLevel: z.string().default("warning"),
  includeIPRanges: z.string().default("*"),
  excludeIPRanges: z.string().default(""),
  includeInboundPorts: z.string().default("*"),
  excludeInboundPorts: z.string().default(""),
  includeOutboundPorts: z.string().default(""),
  excludeOutboundPorts: z.string().default(""),
  outlierLogPath: z.string().default(""),
  privileged: z.boolean().default(false),
  seccompProfile: z.record(z.string(), z.unknown()).default({}),
  lifecycle: z.record(z.string(), z.unknown()).default({}),
  holdApplicationUntilProxyStarts: z.boolean().default(false),
  capNetBindService: z.union([z.boolean(), z.string()]).default(false),
  readinessInitialDelaySeconds: z.int().default(0),
  readinessPeriodSeconds: z.int().default(15),
  readinessFailureThreshold: z.int().default(4),
  startupProbe: z.object({ enabled: z.boolean().default(true), failureThreshold: z.int().default(600) }).prefault({}),
  resources: resources.default({
    requests: { cpu: "100m", memory: "128Mi" },
    limits: { cpu: "2000m", memory: "1024Mi" },
  }),
  statusPort: z.int().default(15_020),
});

const values = z.object({
  revision: z.string().default(""),
  global: z
    .object({
      hub: z.string().default("registry.istio.io/release"),
      tag: z.union([z.string(), z.number().transform(String)]).default(followedIstioVersion),
      variant: z.string().default(""),
      imagePullPolicy: z.string().default(""),
      imagePullSecrets: z.array(z.string()).default([]),
      istioNamespace: z.string().default("istio-system"),
      caAddress: z.string().default(""),
      pilotCertProvider: z.string().default("istiod"),
      trustBundleName: z.string().default("istio-ca-root-cert"),
      logging: z.object({ level: z.string().default("default:info") }).prefault({}),
      logAsJson: z.boolean().default(false),
      meshID: z.string().default(""),
      network: z.string().default(""),
      nativeNftables: z.boolean().default(false),
      mountMtlsCerts: z.boolean().default(false),
      multiCluster: z.object({ clusterName: z.string().default("") }).prefault({}),
      sds: z.object({ token: z.object({ aud: z.string().default("istio-ca") }).prefault({}) }).prefault({}),
      sts: z.object({ servicePort: z.int().default(0) }).prefault({}),
      proxy: proxy.prefault({}),
      proxy_init: z
        .object({ image: z.string().default("proxyv2"), forceApplyIptables: z.boolean().default(false) })
        .prefault({}),
    })
    .prefault({}),
  pilot: z
    .object({
      cni: z.object({ enabled: z.boolean().default(false), provider: z.string().default("default") }).prefault({}),
      env: z.object({ ENABLE_NATIVE_SIDECARS: z.union([z.boolean(), z.string()]).default("auto") }).prefault({}),
    })
    .prefault({}),
  sidecarInjectorWebhook: z
    .object({
      rewriteAppHTTPProbe: z.boolean().default(true),
      neverInjectSelector: z.array(labelSelector).default([]),
      injectedAnnotations: z.record(z.string(), z.string()).default({}),
      defaultTemplates: z.array(z.string()).default([]),
    })
    .prefault({}),
  gateways: z.object({ securityContext: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
  /** Of Portolan alone. */
  portolan: z
    .object({
      /** Of the template `portolan`. */
      agentImage: z.string().default("portolan-agent"),
      server: z.string().default("http://portolan.portolan.svc:8080"),
      tokenAudience: z.string().default("portolan"),
      /** Partial pods by the name of a template, merged over a pod as they are. */
      templates: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
    })
    .prefault({}),
});

/** What an installation says of its proxies, in the form of the values of Istio's charts, with all defaults applied. */
export type InjectionValues = z.output<typeof values>;
export type Resources = z.output<typeof resources>;
export type InjectionSelector = z.output<typeof labelSelector>;

/**
 * Reads values; fields that no injected pod depends on are passed over.
 *
 * @param where for messages
 * @throws PortolanError that names the field that cannot be what it is
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/values.yaml
 */
export function readInjectionValues(written: unknown, where: string): InjectionValues {
  const read = values.safeParse(written);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new PortolanError(`${where} cannot be used: ${issue?.path.join(".") || "(all)"}: ${issue?.message}`);
}
