import type { Config } from "../../config/config.ts";
import type { PolicyTargetReference } from "../../config/kinds/selector.ts";
import type { Sidecar } from "../../config/kinds/sidecar.ts";
import { closedProxiesAnnotation } from "../../config/made-annotations.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import type { ServiceTarget } from "../../registry/service.ts";

/** A workload as policies see it. */
export interface PolicyWorkload {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rootNamespace: string;
  /** Of its proxy; absent: policies that are about proxies of one type attach all the same. */
  readonly type?: "sidecar" | "router";
  /** Namespace of a service that the workload is about to call: its policies for authorization count as well. */
  readonly calledNamespace?: string;
}

/** A workload with the services that it backs, as whatever holds on its ports asks for it. */
export interface ServedWorkload extends PolicyWorkload {
  /** Bare name; "" when unknown. */
  readonly serviceAccount: string;
  /** Oldest service first. */
  readonly targets: readonly ServiceTarget[];
  /** The one in force, if any: its ingress listeners are ports too. */
  readonly sidecar: Config<Sidecar> | undefined;
}

/** Label of workloads that a Gateway API Gateway was deployed for. */
const gatewayNameLabel = "gateway.networking.k8s.io/gateway-name";

/** Whether a policy is about proxies of the workload's type: what stands in for a refused EnvoyFilter may be about one type only. */
function isOfType({ meta, madeFrom }: Config, workload: PolicyWorkload): boolean {
  const type = madeFrom === undefined ? undefined : meta.annotations[closedProxiesAnnotation];
  return type === undefined || workload.type === undefined || type === workload.type;
}

interface Target {
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/**
 * Does a policy of the workload's own or the root namespace attach to it? References only attach to the Gateway that a
 * workload was deployed for; without references the selector decides, and no selector selects all.
 * @see docs/how-istio-does-it/security.md#what-a-policy-attaches-to
 */
export function attaches<Spec extends Target>(
  policy: Config<Spec>,
  selectorOf: (spec: Spec) => Labels | undefined,
  workload: PolicyWorkload,
): boolean {
  if (!isOfType(policy, workload)) return false;
  const refs = policy.spec.targetRefs ?? (policy.spec.targetRef === undefined ? [] : [policy.spec.targetRef]);
  if (refs.length === 0) return isSubset(selectorOf(policy.spec) ?? {}, workload.labels);
  const gateway = workload.labels[gatewayNameLabel];
  return refs.some(
    (ref) =>
      gateway !== undefined &&
      ref.kind === "Gateway" &&
      ref.group === "gateway.networking.k8s.io" &&
      ref.name === gateway &&
      policy.meta.namespace === workload.namespace,
  );
}
