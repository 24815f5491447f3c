import { type Fields, fieldsOf, listOf, stringsOf, textOf } from "../base/untyped.ts";

/** The parts of a pod that injection makes. Fields are Kubernetes' own. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: "Always";
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number; readonly protocol: "TCP" }[];
  readonly env?: readonly EnvironmentVariable[];
  readonly imagePullPolicy?: string;
  readonly lifecycle?: Fields;
  readonly startupProbe?: Fields;
  readonly readinessProbe?: Fields;
  readonly resources?: Fields;
  readonly securityContext?: Fields;
  readonly volumeMounts?: readonly VolumeMount[];
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Fields;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: true;
}

export interface Volume extends Fields {
  readonly name: string;
}

/** What a template puts over a pod. */
export interface PodOverlay {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly initContainers?: readonly Container[];
    readonly containers?: readonly Container[];
    readonly volumes: readonly Volume[];
    readonly securityContext?: Fields;
    readonly imagePullSecrets?: readonly { readonly name: string }[];
  };
}

/** A pod, or the template of pods, as it was written. */
export interface Pod {
  readonly metadata: Fields;
  readonly spec: Fields;
}

export const proxyName = "istio-proxy";

export const podOf = (value: unknown): Pod => {
  const { metadata, spec } = fieldsOf(value);
  return { metadata: fieldsOf(metadata), spec: fieldsOf(spec) };
};

export const annotationsOf = ({ metadata }: Pod): Readonly<Record<string, string>> => stringsOf(metadata.annotations);
export const labelsOf = ({ metadata }: Pod): Readonly<Record<string, string>> => stringsOf(metadata.labels);

export const containersOf = ({ spec }: Pod): readonly Fields[] => listOf(spec.containers).map(fieldsOf);
export const initContainersOf = ({ spec }: Pod): readonly Fields[] => listOf(spec.initContainers).map(fieldsOf);

export const nameOf = ({ name }: Fields): string => textOf(name);

/** The proxy's container, wherever it is. */
export const proxyOf = (pod: Pod): Fields | undefined =>
  [...containersOf(pod), ...initContainersOf(pod)].find((container) => nameOf(container) === proxyName);

/** A pod with other containers; lists that are empty and were absent stay absent. */
export function withContainers(
  pod: Pod,
  {
    containers,
    initContainers,
  }: { readonly containers: readonly Fields[]; readonly initContainers: readonly Fields[] },
): Pod {
  const { initContainers: before, ...spec } = pod.spec;
  const keepsInits = initContainers.length > 0 || (Array.isArray(before) && before.length === 0);
  return { ...pod, spec: { ...spec, containers, ...(keepsInits ? { initContainers } : {}) } };
}
