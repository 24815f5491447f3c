import { durationMs } from "../config/duration.ts";
import type { LegacyMeshConfig } from "./legacy-world.ts";

type Written = Readonly<Record<string, unknown>>;

/**
 * Lays written settings of release 0.8 (a MeshConfig in proto JSON) over others. A setting of the wrong type is not taken.
 * `mixerAddress` of older releases stands in for both Mixer servers where neither is named.
 */
export function withMeshSettings(base: LegacyMeshConfig, written: Written): LegacyMeshConfig {
  const text = (name: string, otherwise: string): string => {
    const value = written[name];
    return typeof value === "string" ? value : otherwise;
  };
  const number = (name: string, otherwise: number): number => {
    const value = written[name];
    return typeof value === "number" ? value : otherwise;
  };
  const flag = (name: string, otherwise: boolean): boolean => {
    const value = written[name];
    return typeof value === "boolean" ? value : otherwise;
  };
  const ms = (name: string, otherwise: number): number => {
    const value = written[name];
    return typeof value === "string" ? Math.trunc(durationMs(value)) : otherwise;
  };
  const texts = (name: string, otherwise: readonly string[]): readonly string[] => {
    const value = written[name];
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : otherwise;
  };
  const check = text("mixerCheckServer", base.mixerCheckServer);
  const report = text("mixerReportServer", base.mixerReportServer);
  const old = check === "" && report === "" ? text("mixerAddress", "") : "";
  const proxy = written.defaultConfig;
  return {
    mixerCheckServer: check || old,
    mixerReportServer: report || old,
    disablePolicyChecks: flag("disablePolicyChecks", base.disablePolicyChecks),
    proxyListenPort: number("proxyListenPort", base.proxyListenPort),
    proxyHttpPort: number("proxyHttpPort", base.proxyHttpPort),
    connectTimeoutMs: ms("connectTimeout", base.connectTimeoutMs),
    ingressClass: text("ingressClass", base.ingressClass),
    ingressService: text("ingressService", base.ingressService),
    ingressControllerMode: oneOf(
      ["OFF", "DEFAULT", "STRICT"],
      written.ingressControllerMode,
      base.ingressControllerMode,
    ),
    authPolicy: oneOf(["NONE", "MUTUAL_TLS"], written.authPolicy, base.authPolicy),
    rdsRefreshDelayMs: ms("rdsRefreshDelay", base.rdsRefreshDelayMs),
    enableTracing: flag("enableTracing", base.enableTracing),
    accessLogFile: text("accessLogFile", base.accessLogFile),
    mtlsExcludedServices: texts("mtlsExcludedServices", base.mtlsExcludedServices),
    controlPlaneAuthPolicy: oneOf(
      ["NONE", "MUTUAL_TLS"],
      memberOf(proxy, "controlPlaneAuthPolicy"),
      base.controlPlaneAuthPolicy,
    ),
    mixerIdentities: base.mixerIdentities,
  };
}

function oneOf<T extends string>(values: readonly T[], written: unknown, otherwise: T): T {
  return values.find((value) => value === written) ?? otherwise;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
