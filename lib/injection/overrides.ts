import { type Fields, fieldsOf, listOf, numberOf } from "../base/untyped.ts";
import type { ProxyConfig } from "../config/kinds/mesh-config.ts";
import { merged } from "./merge.ts";
import {
  annotationsOf,
  containersOf,
  initContainersOf,
  nameOf,
  type Pod,
  podOf,
  proxyName,
  proxyOf,
  withContainers,
} from "./pod.ts";
import { overridesAnnotation } from "./status.ts";

/** Stands for the image of the template in a container that a pod says something of beforehand. */
export const autoImage = "auto";

/** A pod whose own `istio-proxy` is among the init containers, where a template has it there. */
export function proxyMoved(pod: Pod, overlay: Pod): Pod {
  const isNative = initContainersOf(overlay).some((container) => nameOf(container) === proxyName);
  const own = containersOf(pod).find((container) => nameOf(container) === proxyName);
  if (!isNative || own === undefined) return pod;
  return withContainers(pod, {
    containers: containersOf(pod).filter((container) => container !== own),
    initContainers: [...initContainersOf(pod), own],
  });
}

/**
 * Puts what a pod says of containers that injection makes over what the templates say, and notes it for a later injection.
 *
 * @param written the pod before any template
 * @see istio 1.30.3 pkg/kube/inject/webhook.go, reapplyOverwrittenContainers
 */
export function overridden(pod: Pod, written: Pod, overlay: Pod, settings: ProxyConfig): Pod {
  const all = [...containersOf(written), ...initContainersOf(written)];
  const ownOf = (made: readonly Fields[]): readonly Fields[] =>
    made.flatMap((container) => {
      const own = all.find((one) => nameOf(one) === nameOf(container));
      if (own === undefined) return [];
      const { image, ...rest } = own;
      return [image === autoImage ? rest : own];
    });
  const containers = ownOf(containersOf(overlay));
  const initContainers = ownOf(initContainersOf(overlay));
  if (containers.length + initContainers.length === 0) return pod;
  const laid = podOf(
    merged(
      { ...pod },
      {
        spec: {
          ...(containers.length === 0 ? {} : { containers }),
          ...(initContainers.length === 0 ? {} : { initContainers }),
        },
      },
    ),
  );
  const noted = JSON.stringify({
    ...(containers.length === 0 ? {} : { containers }),
    ...(initContainers.length === 0 ? {} : { initContainers }),
  });
  const annotations = { ...annotationsOf(laid), [overridesAnnotation]: noted };
  return withUser({ ...laid, metadata: { ...laid.metadata, annotations } }, proxyOf(written), settings);
}

/** The container that captures traffic leaves the user alone that the pod runs its proxy as. */
function withUser(pod: Pod, own: Fields | undefined, { interceptionMode }: ProxyConfig): Pod {
  const { runAsUser: user, runAsGroup: group } = fieldsOf(own?.securityContext);
  const [runAsUser, runAsGroup] = [numberOf(user), numberOf(group)];
  if (runAsUser === undefined && runAsGroup === undefined) return pod;
  const mode = annotationsOf(pod)["sidecar.istio.io/interceptionMode"] ?? interceptionMode;
  const isTransparent = mode === "TPROXY";
  const change = (container: Fields): Fields => {
    const name = nameOf(container);
    const security = fieldsOf(container.securityContext);
    if (name === proxyName && isTransparent && runAsUser !== undefined)
      return { ...container, securityContext: { ...security, runAsUser: 0 } };
    if (name !== "istio-init" && name !== "istio-validation") return container;
    const same = {
      ...(runAsUser === undefined ? {} : { runAsUser }),
      ...(runAsGroup === undefined ? {} : { runAsGroup }),
    };
    const securityContext = name === "istio-validation" && !isTransparent ? { ...security, ...same } : security;
    const args = listOf(container.args);
    const at = args.indexOf("-u");
    const other = runAsUser === undefined || runAsUser === 0 || at < 0 ? args : args.with(at + 1, String(runAsUser));
    return { ...container, securityContext, args: other };
  };
  return withContainers(pod, {
    containers: containersOf(pod).map(change),
    initContainers: initContainersOf(pod).map(change),
  });
}

/**
 * The containers in the order in which they are to start.
 *
 * @param holds whether the workload waits for its proxy
 * @see istio 1.30.3 pkg/kube/inject/webhook.go, reorderPod
 */
export function ordered(pod: Pod, holds: boolean): Pod {
  const inits = initContainersOf(pod);
  const isNative = inits.some((container) => nameOf(container) === proxyName);
  const moved = (list: readonly Fields[], name: string, to: "first" | "last"): readonly Fields[] => {
    const own = list.filter((container) => nameOf(container) === name);
    const others = list.filter((container) => nameOf(container) !== name);
    return to === "first" ? [...own, ...others] : [...others, ...own];
  };
  const natively = () =>
    [proxyName, "istio-validation", "istio-init"].reduce((list, name) => moved(list, name, "first"), inits);
  // Traffic is captured last, so that other init containers reach the network.
  const otherwise = () => moved(moved(inits, "istio-validation", "first"), "istio-init", "last");
  return withContainers(pod, {
    containers: moved(containersOf(pod), proxyName, holds ? "first" : "last"),
    initContainers: isNative ? natively() : otherwise(),
  });
}
