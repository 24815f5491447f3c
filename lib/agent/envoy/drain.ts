import { setTimeout as sleep } from "node:timers/promises";
import type { EnvoyProcess } from "./envoy-process.ts";

export interface DrainOptions {
  /** A gateway has no inbound listeners beside others: all are drained. */
  readonly isGateway: boolean;
  /** How long connections have to end by themselves. */
  readonly drainMs: number;
  /** Waits until no connection is left, however long; then `drainMs` is the least. */
  readonly untilIdle: boolean;
  /** Fires when there is no time any more. */
  readonly hurry: AbortSignal;
}

/** How long an Envoy may take to end after SIGTERM. */
const endMs = 10_000;

/** Ports of the listeners that are there for probes and metrics, whose connections nobody waits for. */
const ownPorts = /_(?:15021|15090)\./;

/**
 * Ends an Envoy as Istio's agent does: its listeners say goodbye to connections, which have some seconds to go, then it is told to end.
 *
 * @see istio 1.30.3 pkg/envoy/agent.go, terminate
 */
export async function drainAndEnd(envoy: EnvoyProcess, options: DrainOptions): Promise<void> {
  const { isGateway, drainMs, untilIdle, hurry } = options;
  const pause = (ms: number) => Promise.race([sleep(ms, undefined, { signal: hurry }).catch(() => {}), envoy.ended]);
  const admin = await envoy.admin();
  if (admin !== undefined && envoy.isRunning() && !hurry.aborted) {
    await admin.post(`/drain_listeners?${isGateway ? "" : "inboundonly&"}graceful`);
    await pause(drainMs);
    for (let failures = 0; untilIdle && envoy.isRunning() && !hurry.aborted && failures < 5; ) {
      const text = await admin.page("/stats?usedonly&filter=downstream_cx_active$");
      if (text === undefined) failures += 1;
      else if (connectionsIn(text) === 0) break;
      await pause(1_000);
    }
  }
  await end(envoy);
  admin?.close();
}

/** Ends an Envoy without a drain; one that takes longer than it may is killed. */
export async function end(envoy: EnvoyProcess): Promise<void> {
  envoy.kill("SIGTERM");
  const killer = setTimeout(() => envoy.kill("SIGKILL"), endMs);
  await envoy.ended;
  clearTimeout(killer);
}

function connectionsIn(stats: string): number {
  return stats
    .split("\n")
    .filter((line) => line.startsWith("listener.") && !/worker_|admin|_internal/.test(line) && !ownPorts.test(line))
    .reduce((sum, line) => sum + Number(/ (\d+)$/.exec(line)?.[1] ?? 0), 0);
}
