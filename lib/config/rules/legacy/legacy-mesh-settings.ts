import { durationMs } from "../../../base/duration.ts";
import { type Finding, info, warning } from "../../finding.ts";
import type { LegacyMeshSettings } from "../../kinds/legacy/legacy-mesh-settings.ts";
import { isHostPort } from "../names.ts";

const names = [
  "mixerAddress",
  "mixerCheckServer",
  "mixerReportServer",
  "disablePolicyChecks",
  "authPolicy",
  "rdsRefreshDelay",
  "mtlsExcludedServices",
] as const satisfies readonly (keyof LegacyMeshSettings)[];

/** What release 0.8 refused is a warning: xDS, which ignores these settings, must not lose the mesh's others over them. */
export function* legacyMeshSettingsRules(mesh: LegacyMeshSettings): Generator<Finding> {
  for (const name of names) {
    if (mesh[name] !== undefined) yield info([name], "counts in the legacy v1 API only: xDS ignores it");
  }
  for (const name of ["mixerAddress", "mixerCheckServer", "mixerReportServer"] as const) {
    const address = mesh[name] ?? "";
    if (address !== "" && !isHostPort(address)) {
      yield warning([name], `${JSON.stringify(address)} is not of the form host:port`);
    }
  }
  const delay = mesh.rdsRefreshDelay;
  if (delay !== undefined && (durationMs(delay) < 1000 || durationMs(delay) > 600_000)) {
    yield warning(["rdsRefreshDelay"], `${delay} is not between 1s and 10m`);
  }
}
