import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../../config/diagnostic.ts";
import type { EnvoyAdmin } from "./envoy-admin.ts";
import type { EnvoyLog } from "./envoy-log.ts";

/** An Envoy that reads the agent's files, as far as it can be asked what it has taken. */
export interface ReadingEnvoy {
  readonly admin: EnvoyAdmin;
  readonly log: EnvoyLog;
  isRunning(): boolean;
}

const warmMs = 5_000;

/**
 * Waits until an Envoy has taken files of some versions.
 *
 * @param mark of its log, from before the files were written
 * @returns for each version that it has refused, its words. A version that is neither in force nor refused in time counts as taken:
 *   nobody may read the file, or the bootstrap may keep the versions out of the statistics
 * @throws PortolanError when the Envoy is gone, or does not answer
 */
export async function untilTaken(
  envoy: ReadingEnvoy,
  versions: readonly string[],
  mark: number,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  const { admin, log } = envoy;
  const untilMs = performance.now() + timeoutMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 100)) {
    await sleep(pauseMs);
    const taken = await admin.versions();
    await log.read();
    const missing = versions.filter((version) => taken?.has(version) !== true);
    if (missing.length === 0) return new Map();
    const isLate = performance.now() > untilMs;
    if (taken === undefined && (isLate || !envoy.isRunning()))
      throw new PortolanError("Envoy went away, or does not answer, while it was given something new");
    const said = log.refusalsSince(mark);
    if (said.length >= missing.length || (said.length > 0 && isLate))
      return new Map(missing.map((version, i) => [version, said[i] ?? said.join("\n")]));
    if (isLate) return new Map();
  }
}

/** New clusters take traffic when they have their endpoints and certificates. */
export async function untilWarm({ admin, isRunning }: ReadingEnvoy): Promise<void> {
  const untilMs = performance.now() + warmMs;
  while (isRunning() && performance.now() < untilMs) {
    if ((await admin.gauge("cluster_manager.warming_clusters")) === 0) return;
    await sleep(20);
  }
}
