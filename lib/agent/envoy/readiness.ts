import type { EnvoyAdmin } from "./envoy-admin.ts";

/** Whether an Envoy takes traffic. */
export interface Readiness {
  /** @returns why it does not; undefined when it does */
  missing(
    envoy: { readonly pid: number; readonly admin: EnvoyAdmin | undefined } | undefined,
  ): Promise<string | undefined>;
}

/**
 * As Istio's agent sees it: the server is live, and has taken clusters and listeners at least once, which is remembered.
 *
 * @see istio 1.30.3 pilot/cmd/pilot-agent/status/ready/probe.go
 */
export function createReadiness(): Readiness {
  /** The Envoy that has taken both. */
  let configured: number | undefined;
  return {
    async missing(envoy) {
      if (envoy === undefined) return "no Envoy runs";
      const state = await envoy.admin?.state();
      if (state === undefined || envoy.admin === undefined) return "Envoy does not answer";
      if (state !== "LIVE") return `Envoy is not live: ${state}`;
      if (configured === envoy.pid) return undefined;
      const page = await envoy.admin.page(`/stats?type=Counters&filter=${encodeURIComponent(counters)}`);
      for (const [what, name] of [
        ["clusters", "cluster_manager.cds"],
        ["listeners", "listener_manager.lds"],
      ] as const) {
        const count = (of: string) =>
          Number(new RegExp(`^${name}\\.update_${of}: (\\d+)$`, "m").exec(page ?? "")?.[1] ?? 0);
        if (count("success") > 0) continue;
        const refused = count("rejected");
        return `Envoy has taken no ${what} yet${refused === 0 ? "" : `, and refused them ${refused} times`}`;
      }
      configured = envoy.pid;
      return undefined;
    },
  };
}

const counters = "^(cluster_manager\\.cds|listener_manager\\.lds)\\.update_(success|rejected)$";
