import { durationMs } from "../base/duration.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { defaultLegacyMeshConfig, type LegacyMeshConfig } from "./legacy-world.ts";

/**
 * The settings as release 0.8 reads them: what was written, over its own defaults, which are not those of today.
 * Mixer's identities are not among the settings.
 */
export function legacyMeshOf({ written = {} }: MeshConfig): LegacyMeshConfig {
  const base = defaultLegacyMeshConfig;
  const { connectTimeout, ingressControllerMode: mode, rdsRefreshDelay, defaultConfig } = written;
  const { mixerCheckServer: check = "", mixerReportServer: report = "" } = written;
  const old = check === "" && report === "" ? (written.mixerAddress ?? "") : "";
  return {
    mixerCheckServer: check || old,
    mixerReportServer: report || old,
    disablePolicyChecks: written.disablePolicyChecks ?? base.disablePolicyChecks,
    proxyListenPort: written.proxyListenPort ?? base.proxyListenPort,
    proxyHttpPort: written.proxyHttpPort ?? base.proxyHttpPort,
    connectTimeoutMs: connectTimeout === undefined ? base.connectTimeoutMs : Math.trunc(durationMs(connectTimeout)),
    ingressClass: written.ingressClass ?? base.ingressClass,
    ingressService: written.ingressService ?? base.ingressService,
    // An unspecified mode fits no Ingress.
    ingressControllerMode: mode === "UNSPECIFIED" ? "OFF" : (mode ?? base.ingressControllerMode),
    authPolicy: written.authPolicy ?? base.authPolicy,
    rdsRefreshDelayMs: rdsRefreshDelay === undefined ? base.rdsRefreshDelayMs : Math.trunc(durationMs(rdsRefreshDelay)),
    enableTracing: written.enableTracing ?? base.enableTracing,
    accessLogFile: written.accessLogFile ?? base.accessLogFile,
    mtlsExcludedServices: written.mtlsExcludedServices ?? base.mtlsExcludedServices,
    controlPlaneAuthPolicy: defaultConfig?.controlPlaneAuthPolicy === "MUTUAL_TLS" ? "MUTUAL_TLS" : "NONE",
    mixerIdentities: base.mixerIdentities,
  };
}
