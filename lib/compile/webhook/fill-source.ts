import type { SourceFile } from "../../config/folder/directory.ts";
import { limits } from "../../limits/limits.ts";
import { checkBeforeFill } from "../../snapshot/publish.ts";
import type { Share } from "../../snapshot/root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { mustRefuseClosed } from "../shards/refuse-closed.ts";
import { writeShard } from "../shards/write-shard.ts";
import { problem, type StillMine } from "./delivery.ts";
import type { Quota } from "./quota.ts";
import { refuseExpanded } from "./refuse-expanded.ts";

export interface Filling {
  /** Size of what came, for the quota. */
  readonly bytes: number;
  readonly allowEmpty: boolean;
  readonly acceptClosed: boolean;
  readonly share?: Share | undefined;
  readonly mayWrite: StillMine;
}

/**
 * Fills a source with files that came over HTTP or from a repository: one set of limits and rules for both.
 *
 * @returns a refusal; undefined where the source was filled
 * @throws PortolanError with diagnostics for files that are refused, as `writeShard`
 */
export type FillSource = (
  name: string,
  files: readonly SourceFile[],
  filling: Filling,
) => Promise<Response | undefined>;

export function createFillSource(store: ObjectStore, quota: Quota): FillSource {
  return async (name, files, { bytes, allowEmpty, acceptClosed, share, mayWrite }) => {
    if (files.length > limits.sourceFiles)
      return problem(413, `${files.length} files; a source takes ${limits.sourceFiles}: put more into each`);
    refuseExpanded(name, files);
    const full = await quota(name, bytes);
    if (full !== undefined) return problem(413, full);
    await checkBeforeFill(store, {}, share);
    const refuseClosed = await mustRefuseClosed(store, acceptClosed);
    await writeShard(store, name, files, { allowEmpty, refuseClosed, mayWrite });
    return undefined;
  };
}
