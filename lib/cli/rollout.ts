import type { Rollout } from "../compile/rollout.ts";
import type { OperatorOptions } from "../snapshot/head/head-operations.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { ownBuild } from "./own-build.ts";

/** What moves HEAD to earlier configuration. The compiler is loaded for these commands alone, since it takes memory. */
export async function openRollout(store: ObjectStore, publisher: OperatorOptions): Promise<Rollout> {
  const { createRollout } = await import("../compile/rollout.ts");
  return createRollout({ store, publisher, build: await ownBuild() });
}
