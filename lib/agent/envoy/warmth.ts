import type { EnvoyAdmin } from "./envoy-admin.ts";

/** Whether all clusters and listeners of an Envoy have what they wait for, and take traffic. One that does not answer is not warm. */
export async function isWarm(admin: Pick<EnvoyAdmin, "page"> | undefined): Promise<boolean> {
  const page = await admin?.page(`/stats?type=Gauges&filter=${encodeURIComponent(gauges)}`);
  const values = [...(page ?? "").matchAll(/: (\d+)$/gm)].map(([, value]) => value);
  return values.length === 2 && values.every((value) => value === "0");
}

/** Of both in one request, since Envoy goes over all that it counts for each. */
const gauges = "^(cluster_manager\\.warming_clusters|listener_manager\\.total_listeners_warming)$";
