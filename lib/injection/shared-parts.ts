import { PortolanError } from "../base/diagnostic.ts";
import { type Fields, fieldsOf, isFields, jsonIn } from "../base/untyped.ts";
import { annotated, type TemplateInput } from "./context.ts";
import { appContainersOf } from "./environment.ts";
import { annotationsOf, type Volume, type VolumeMount } from "./pod.ts";
import type { Resources } from "./values.ts";

/** The user and group of the proxy, whose traffic is not captured. */
export const proxyUser = 1337;

/** Where Istio's agent keeps and finds its files. */
export function agentMounts(input: TemplateInput, type: "sidecar" | "router"): readonly VolumeMount[] {
  const { pilotCertProvider, mountMtlsCerts } = input.values.global;
  const isIstiods = pilotCertProvider === "istiod";
  return [
    { name: "workload-socket", mountPath: "/var/run/secrets/workload-spiffe-uds" },
    { name: "credential-socket", mountPath: "/var/run/secrets/credential-uds" },
    { name: "workload-certs", mountPath: "/var/run/secrets/workload-spiffe-credentials" },
    ...(isIstiods ? [{ name: "istiod-ca-cert", mountPath: "/var/run/secrets/istio" }] : []),
    ...(isIstiods && type === "sidecar" ? [{ name: "istio-ca-crl", mountPath: "/var/run/secrets/istio/crl" }] : []),
    { name: "istio-data", mountPath: "/var/lib/istio/data" },
    ...(hasBootstrap(input) ? [{ name: "custom-bootstrap-volume", mountPath: "/etc/istio/custom-bootstrap" }] : []),
    { name: "istio-envoy", mountPath: "/etc/istio/proxy" },
    { name: "istio-token", mountPath: "/var/run/secrets/tokens" },
    ...(mountMtlsCerts ? [{ name: "istio-certs", mountPath: "/etc/certs/", readOnly: true as const }] : []),
    { name: "istio-podinfo", mountPath: "/etc/istio/pod" },
    ...userMounts(input, type),
  ];
}

/** The volumes for them. */
export function agentVolumes(input: TemplateInput, type: "sidecar" | "router"): readonly Volume[] {
  const { pilotCertProvider, trustBundleName, mountMtlsCerts, sds } = input.values.global;
  const { serviceAccountName } = input.pod.spec;
  const account = typeof serviceAccountName === "string" && serviceAccountName !== "" ? serviceAccountName : "default";
  return [
    { name: "workload-socket", emptyDir: {} },
    { name: "credential-socket", emptyDir: {} },
    { name: "workload-certs", emptyDir: {} },
    ...(hasBootstrap(input)
      ? [{ name: "custom-bootstrap-volume", configMap: { name: annotated(input, bootstrapAnnotation, "") } }]
      : []),
    { name: "istio-envoy", emptyDir: { medium: "Memory" } },
    { name: "istio-data", emptyDir: {} },
    podInfoVolume("istio-podinfo"),
    tokenVolume("istio-token", { path: "istio-token", expirationSeconds: 43_200, audience: sds.token.aud }),
    ...(pilotCertProvider === "istiod" ? [{ name: "istiod-ca-cert", configMap: { name: trustBundleName } }] : []),
    ...(type === "sidecar" ? [{ name: "istio-ca-crl", configMap: { name: "istio-ca-crl", optional: true } }] : []),
    ...(mountMtlsCerts ? [{ name: "istio-certs", secret: { optional: true, secretName: `istio.${account}` } }] : []),
    ...userVolumes(input, type),
  ];
}

const bootstrapAnnotation = "sidecar.istio.io/bootstrapOverride";
const hasBootstrap = ({ pod }: TemplateInput): boolean => annotationsOf(pod)[bootstrapAnnotation] !== undefined;

/** Labels and annotations of the pod as files. */
export const podInfoVolume = (name: string): Volume => ({
  name,
  downwardAPI: {
    items: ["labels", "annotations"].map((path) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } })),
  },
});

export const tokenVolume = (name: string, serviceAccountToken: Fields): Volume => ({
  name,
  projected: { sources: [{ serviceAccountToken }] },
});

const userMounts = (input: TemplateInput, type: "sidecar" | "router"): readonly VolumeMount[] =>
  named(input, type, "sidecar.istio.io/userVolumeMount").map(([name, mount]) => ({ mountPath: "", ...mount, name }));

const userVolumes = (input: TemplateInput, type: "sidecar" | "router"): readonly Volume[] =>
  named(input, type, "sidecar.istio.io/userVolume").map(([name, volume]) => ({ ...volume, name }));

/** An annotation with a JSON object of objects. @throws PortolanError for any other text */
function named(
  { pod }: TemplateInput,
  type: "sidecar" | "router",
  name: string,
): readonly (readonly [string, Fields])[] {
  const text = annotationsOf(pod)[name];
  if (text === undefined || type === "router") return [];
  const read = jsonIn(text);
  if (!isFields(read) || !Object.values(read).every(isFields))
    throw new PortolanError(`invalid value for annotation '${name}': must be a JSON object of objects by name`);
  return Object.entries(read).map(([key, value]) => [key, fieldsOf(value)] as const);
}

const resourceAnnotations = {
  requests: { cpu: "sidecar.istio.io/proxyCPU", memory: "sidecar.istio.io/proxyMemory" },
  limits: { cpu: "sidecar.istio.io/proxyCPULimit", memory: "sidecar.istio.io/proxyMemoryLimit" },
} as const;

/** Of the annotations, of which one sets all others aside; else of the values. */
export function resourcesOf({ pod, values }: TemplateInput): Fields {
  const annotations = annotationsOf(pod);
  const said = Object.entries(resourceAnnotations).map(([part, { cpu, memory }]) => {
    const [ofCpu, ofMemory] = [annotations[cpu], annotations[memory]];
    const amounts = {
      ...(ofCpu === undefined ? {} : { cpu: ofCpu }),
      ...(ofMemory === undefined ? {} : { memory: ofMemory }),
    };
    return [part, amounts] as const;
  });
  const some = said.filter(([, amounts]) => Object.keys(amounts).length > 0);
  return some.length > 0 ? Object.fromEntries(some) : withoutNulls(values.global.proxy.resources);
}

const withoutNulls = (resources: Resources): Fields =>
  Object.fromEntries(
    Object.entries(resources).map(([part, amounts]) => [
      part,
      Object.fromEntries(Object.entries(amounts ?? {}).filter(([, amount]) => amount !== null)),
    ]),
  );

/** Which revision has injected, and for kubectl the container of the workload. */
export function overlayAnnotations(input: TemplateInput): Readonly<Record<string, string>> {
  const annotations = annotationsOf(input.pod);
  const [first] = appContainersOf(input);
  const own: Record<string, string> = { "istio.io/rev": input.revision };
  if (first === undefined) return own;
  for (const name of defaultContainerAnnotations) if (annotations[name] === undefined) own[name] = first;
  return own;
}

export const defaultContainerAnnotations = [
  "kubectl.kubernetes.io/default-logs-container",
  "kubectl.kubernetes.io/default-container",
] as const;

/** Levels of logs, as arguments of Istio's agent. */
export function logArguments(input: TemplateInput): readonly string[] {
  const { proxy, logging } = input.values.global;
  return [
    `--proxyLogLevel=${annotated(input, "sidecar.istio.io/logLevel", proxy.logLevel)}`,
    `--proxyComponentLogLevel=${annotated(input, "sidecar.istio.io/componentLogLevel", proxy.componentLogLevel)}`,
    `--log_output_level=${annotated(input, "sidecar.istio.io/agentLogLevel", logging.level)}`,
  ];
}

/** Arguments that follow from the values alone. */
export const valueArguments = ({ values }: TemplateInput): readonly string[] => [
  ...(values.global.sts.servicePort === 0 ? [] : [`--stsPort=${values.global.sts.servicePort}`]),
  ...(values.global.logAsJson ? ["--log_as_json"] : []),
];

/** Of the values, with the secrets that pull images. */
export function pulling({ values }: TemplateInput): {
  readonly imagePullSecrets?: readonly { readonly name: string }[];
} {
  const { imagePullSecrets } = values.global;
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };
}
