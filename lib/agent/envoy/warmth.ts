import type { EnvoyAdmin } from "./envoy-admin.ts";

/** Whether all clusters and listeners of an Envoy have what they wait for, and take traffic. One that does not answer is not warm. */
export async function isWarm(admin: EnvoyAdmin | undefined): Promise<boolean> {
  if (admin === undefined) return false;
  const [clusters, listeners] = await Promise.all([
    admin.gauge("cluster_manager.warming_clusters"),
    admin.gauge("listener_manager.total_listeners_warming"),
  ]);
  return clusters === 0 && listeners === 0;
}
