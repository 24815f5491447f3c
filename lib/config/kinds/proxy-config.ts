import type { WorkloadSelector } from "./selector.ts";

/**
 * `networking.istio.io` ProxyConfig object (Istio's Go calls it v1beta1 ProxyConfig; the mesh's own `ProxyConfig` message is
 * in `mesh-config.ts`).
 * @see https://istio.io/latest/docs/reference/config/networking/proxy-config/
 */
export interface ProxyConfigResource {
  readonly selector?: WorkloadSelector;
  /** Wrapper: 0 means all CPUs. */
  readonly concurrency?: number;
  readonly environmentVariables?: Readonly<Record<string, string>>;
  readonly image?: ProxyImage;
}

export interface ProxyImage {
  readonly imageType?: string;
}
