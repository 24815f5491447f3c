import type { MeshConfig, ProxyConfig } from "../config/kinds/mesh-config.ts";
import type { WorkloadOwner } from "../registry/service.ts";
import { annotationsOf, type Pod } from "./pod.ts";
import type { InjectionValues } from "./values.ts";

/** Everything that a template is made from. */
export interface TemplateInput {
  /** The pod as it was written, without what was injected before. */
  readonly pod: Pod;
  /** `apps/v1`, `Deployment`, `web`; its name is "" where nothing has one. */
  readonly owner: WorkloadOwner;
  readonly namespace: string;
  readonly meshConfig: MeshConfig;
  /** Of this pod, with what its annotation and ProxyConfig objects say. */
  readonly proxyConfig: ProxyConfig;
  readonly values: InjectionValues;
  /** `default` for the mesh without a name. */
  readonly revision: string;
  readonly isNative: boolean;
  readonly clusterId: string;
  /** "" for none. */
  readonly network: string;
}

/** An annotation of the pod, else what holds without it. */
export const annotated = ({ pod }: Pick<TemplateInput, "pod">, name: string, usual: string | number): string =>
  annotationsOf(pod)[name] ?? String(usual);

export type InterceptionMode = "REDIRECT" | "TPROXY" | "NONE";

export function interceptionMode(input: TemplateInput): InterceptionMode {
  const mode = annotated(input, "sidecar.istio.io/interceptionMode", input.proxyConfig.interceptionMode ?? "REDIRECT");
  return mode === "TPROXY" || mode === "NONE" ? mode : "REDIRECT";
}

/** Port on which the agent answers; 0 for none. */
export const statusPortOf = (input: TemplateInput): string =>
  annotated(input, "status.sidecar.istio.io/port", input.values.global.proxy.statusPort);

const knownTypes = ["distroless", "debug"];

/**
 * `HUB/NAME:TAG-TYPE`, unless the annotation names a whole image.
 *
 * @param type of the image as settings have it; "" for that of the values
 * @see istio 1.30.3 pkg/kube/inject/inject.go, imageURL
 */
export function imageOf(input: TemplateInput, name: string, type: string): string {
  const named = annotated(input, "sidecar.istio.io/proxyImage", name);
  if (named.includes("/")) return named;
  const { hub, tag, variant } = input.values.global;
  const wanted = annotated(input, "sidecar.istio.io/proxyImageType", type || variant);
  const bare = wanted === "" ? tag : tag.replace(new RegExp(`-(${knownTypes.join("|")})$`), "");
  return `${hub}/${name}:${bare}${wanted === "" || wanted === "default" ? "" : `-${wanted}`}`;
}
