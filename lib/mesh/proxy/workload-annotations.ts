import type { Diagnostic, Origin, Stage } from "../../base/diagnostic.ts";
import { at, error, type Finding, type Path } from "../../config/finding.ts";
import type { ProxyConfig } from "../../config/kinds/mesh-config.ts";
import { readProxySettings } from "../../config/read-proxy-settings.ts";
import type { Labels } from "../../config/values/labels.ts";

/** Annotations of a workload, and the object that they stand in. */
export interface Annotated {
  readonly annotations: Labels;
  readonly origin: Origin;
  /** Where they stand in the object; `metadata.annotations` of most. */
  readonly path?: Path;
}

/** What the annotations of a workload say of its proxy. */
export interface AnnotatedSettings {
  /** `proxy.istio.io/config`. */
  readonly settings: Partial<ProxyConfig>;
  /** `sidecar.istio.io/discoveryAddress` and `status.sidecar.istio.io/port`, which lie over everything else. */
  readonly overrides: Partial<ProxyConfig>;
  /** `sidecar.istio.io/interceptionMode`; undefined: not said. */
  readonly interceptionMode: ProxyConfig["interceptionMode"];
}

const nothingAnnotated: Stage<AnnotatedSettings> = {
  value: { settings: {}, overrides: {}, interceptionMode: undefined },
  diagnostics: [],
};

const interceptionModes = ["REDIRECT", "TPROXY", "NONE"] as const;

/**
 * Reads the annotations of a workload that its proxy's settings depend on. Istio's injector refuses a pod for an annotation
 * that it cannot read; here the annotation counts as absent.
 *
 * @returns diagnostics `pod-annotation-invalid`, and `unknown-field` or `discouraged-value` inside of a ProxyConfig
 * @see istio 1.30.3 pkg/kube/inject/validate.go
 * @see istio 1.30.3 pilot/cmd/pilot-agent/config/config.go
 */
export function readAnnotations({
  annotations,
  origin,
  path = ["metadata", "annotations"],
}: Annotated): Stage<AnnotatedSettings> {
  const config = annotations["proxy.istio.io/config"];
  const mode = annotations["sidecar.istio.io/interceptionMode"];
  const port = annotations["status.sidecar.istio.io/port"];
  const discoveryAddress = annotations["sidecar.istio.io/discoveryAddress"];
  if ((config ?? mode ?? port ?? discoveryAddress) === undefined) return nothingAnnotated;
  const diagnostics: Diagnostic[] = [];
  const tell = (name: string, findings: readonly Finding[]): void => {
    for (const finding of findings) {
      const refused = finding.severity === "error" ? ({ code: "pod-annotation-invalid" } as const) : {};
      diagnostics.push(at(origin, { ...finding, ...refused, path: [...path, name, ...finding.path] }));
    }
  };
  const refuse = (name: string, message: string): void => tell(name, [error([], message, "it counts as absent")]);

  const read = config === undefined ? undefined : readProxySettings(config);
  tell("proxy.istio.io/config", read?.findings ?? []);

  const interceptionMode = interceptionModes.find((known) => known === mode);
  if (mode !== undefined && interceptionMode === undefined) {
    refuse("sidecar.istio.io/interceptionMode", `${JSON.stringify(mode)} is none of REDIRECT, TPROXY and NONE`);
  }

  const statusPort = port === undefined ? undefined : portOf(port);
  if (port !== undefined && statusPort === undefined) {
    refuse("status.sidecar.istio.io/port", `${JSON.stringify(port)} is no port`);
  }
  const value = {
    settings: read?.spec ?? {},
    overrides: {
      ...(discoveryAddress === undefined ? {} : { discoveryAddress }),
      ...(statusPort === undefined ? {} : { statusPort }),
    },
    interceptionMode,
  };
  return { value, diagnostics };
}

function portOf(text: string): number | undefined {
  const port = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : undefined;
}
