import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { at, type Finding, info } from "../../config/finding.ts";
import { defaultProxyConfig } from "../../config/kinds/mesh-config.ts";
import { mergeProxyConfig } from "../../config/read-mesh-config.ts";
import { readProxySettings } from "../../config/read-proxy-settings.ts";
import type { ProxyContainer, Workload } from "../../registry/service.ts";
import { followedIstioVersion, type ProxyStart } from "./proxy-start.ts";

/** Whether a container is complete, or only holds what somebody wrote for injection to fill in. */
export const isInjected = ({ args }: ProxyContainer): boolean => args.length > 0;

/** Arguments of `pilot-agent`: `proxy`, the type, then flags; undefined for a type that is not compiled for. */
export function proxyTypeOf({ args }: ProxyContainer): ProxyStart["type"] | undefined {
  const [command, type = "sidecar"] = args;
  if (command !== "proxy") return undefined;
  if (type === "router") return "router";
  return type === "sidecar" || type.startsWith("-") ? "sidecar" : undefined;
}

/**
 * How the agent in a pod is started, by the container that injection left there. The mesh's settings and ProxyConfig
 * objects have no part in it any more: injection has written them into the container when the pod was made.
 *
 * @returns diagnostics `proxy-environment-invalid` for a `PROXY_CONFIG` that cannot be read, which counts as empty;
 *   `proxy-environment-elsewhere` for variables whose value is no part of the pod
 */
export function startOfContainer(
  workload: Workload,
  container: ProxyContainer,
  type: ProxyStart["type"],
): Stage<ProxyStart> {
  const { environment, elsewhere, image } = container;
  const path = [...container.path, "env"];
  const { PROXY_CONFIG: text, POD_NAMESPACE: namespace = workload.namespace } = environment;
  const read = text === undefined ? undefined : readProxySettings(text);
  const diagnostics: Diagnostic[] = [
    ...(read?.findings ?? []).map((finding): Finding => {
      const refused = finding.severity === "error" ? ({ code: "proxy-environment-invalid" } as const) : {};
      return { ...finding, ...refused, path: [...path, "PROXY_CONFIG", ...finding.path] };
    }),
    ...elsewhere.map((name) =>
      info(
        [...path, name],
        "its value comes from a ConfigMap, a Secret or a file, which are not read: it is treated as absent",
        "write the value into the pod",
        "proxy-environment-elsewhere",
      ),
    ),
  ].map((finding) => at(workload.origin, finding));
  const value: ProxyStart = {
    type,
    dnsDomain: flagOf(container, "--domain") ?? `${namespace}.svc.cluster.local`,
    istioVersion: versionOf(image),
    ...(isIstioImage(image) ? { build: "istio" } : {}),
    settings: mergeProxyConfig(defaultProxyConfig, read?.spec ?? {}),
    environment,
    labels: workload.labels,
  };
  return { value, diagnostics };
}

/** `--domain x` or `--domain=x`. */
function flagOf({ args }: ProxyContainer, flag: string): string | undefined {
  const at = args.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`));
  const written = args[at];
  return (written === flag ? args[at + 1] : written?.slice(flag.length + 1)) || undefined;
}

/** `docker.io/istio/proxyv2:1.28.1-distroless` runs Istio 1.28.1. */
/** `…/proxyv2:1.30.3`, `…/proxyv2:1.30.3-distroless`, `…/proxyv2@sha256:…`: what Istio's releases are called, in whichever registry. */
const isIstioImage = (image: string): boolean => /(?:^|\/)proxyv2(?:[:@]|$)/.test(image);

function versionOf(image: string): string {
  return /:(\d+\.\d+\.\d+)(?:[-@]|$)/.exec(image)?.[1] ?? followedIstioVersion;
}
