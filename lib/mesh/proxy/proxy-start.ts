import type { ProxyBuild } from "../../base/proxy-build.ts";
import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { Labels } from "../../config/values/labels.ts";

/**
 * How the agent of a proxy is started: what injection writes into a pod's container, or istioctl into the files of a
 * machine. `agent-node.ts` makes a node of it, wherever it came from.
 */
export interface ProxyStart {
  readonly type: "sidecar" | "router";
  /** `shop.svc.cluster.local`. */
  readonly dnsDomain: string;
  /** `1.30.3`. */
  readonly istioVersion: string;
  /** Whose build of Envoy its container runs; absent: nothing says. */
  readonly build?: ProxyBuild;
  /** `PROXY_CONFIG` over Istio's defaults; the annotation is not in it yet, for the agent reads that by itself. */
  readonly settings: ProxyConfig;
  /** Variables of the agent's process. */
  readonly environment: Labels;
  /** Of the workload, with those that injection adds. */
  readonly labels: Labels;
}

/** Release whose injector and agent are followed where a workload does not say which it runs. */
export const followedIstioVersion = "1.30.3";
