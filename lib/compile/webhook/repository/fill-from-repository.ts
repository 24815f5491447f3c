import type { SourceFile } from "../../../config/folder/directory.ts";
import { limits } from "../../../limits/limits.ts";
import { monotonicClock } from "../../clock.ts";
import type { StillMine } from "../delivery.ts";
import { FetchFailure } from "./fetch-failure.ts";
import type { PushEvent } from "./push-event.ts";
import { readArchive } from "./read-archive.ts";
import type { Repository } from "./read-repositories.ts";
import { type Commit, type RepositoryHost, repositoryHost } from "./repository-host.ts";

export interface RepositoryFill {
  readonly repository: Repository;
  /** The pushes that the fetch is for, the newest last. */
  readonly events: readonly PushEvent[];
  /** Rejects where the delivery is another process's by now. */
  readonly stillMine: StillMine;
  /** Fills the source, unless `mayWrite` rejects before it is written. @returns a refusal; undefined where it was filled */
  readonly fill: (
    files: readonly SourceFile[],
    bytes: number,
    mayWrite: () => Promise<void>,
  ) => Promise<Response | undefined>;
}

/** Attempts while the branch moves during each. */
const maxAttempts = 3;
/** Looks at a branch that still shows the commit before the push, and the pause between them. */
const maxLooks = 3;
const lookMs = 1_000;

class BranchMoved extends Error {}

/**
 * Fills a source with the newest commit of the branch that it follows, whichever commit the push is about. So deliveries that come late,
 * twice or out of order do no harm. The branch is read again between reading the source's list and replacing it by compare-and-swap: of two
 * processes the one with the older commit writes nothing.
 *
 * @returns the commit, or a refusal of what it holds
 * @throws FetchFailure where it cannot be fetched; what `fill` throws
 */
export async function fillFromRepository(filling: RepositoryFill): Promise<Commit | Response> {
  const { repository, stillMine, fill } = filling;
  const host = repositoryHost(repository);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const commit = await newestFor(host, filling);
    const { files, bytes } = await filesOf(host, commit, repository);
    const mayWrite = async () => {
      await stillMine();
      const { sha } = await host.newest(AbortSignal.timeout(limits.fetchMs));
      if (sha !== commit.sha) throw new BranchMoved();
    };
    try {
      return (await fill(files, bytes, mayWrite)) ?? commit;
    } catch (cause) {
      if (!(cause instanceof BranchMoved)) throw cause;
    }
  }
  throw new FetchFailure(
    503,
    `branch ${repository.branch} moved ${maxAttempts} times while it was fetched; the newest push has a delivery of its own`,
  );
}

/** The newest commit. A host may send the event of a push before its API shows the commit. */
async function newestFor(host: RepositoryHost, { repository, events }: RepositoryFill): Promise<Commit> {
  for (let look = 0; look < maxLooks; look += 1) {
    if (look > 0) await monotonicClock.pause(lookMs);
    const commit = await host.newest(AbortSignal.timeout(limits.fetchMs));
    if (commit.sha === events.at(-1)?.after || events.every(({ before }) => commit.sha !== before)) return commit;
  }
  throw new FetchFailure(
    503,
    `branch ${repository.branch} is still at the commit before the push: deliver the push again, unless the branch was put back`,
  );
}

async function filesOf(host: RepositoryHost, { sha }: Commit, repository: Repository) {
  const { name, path } = repository;
  const signal = AbortSignal.timeout(limits.fetchMs);
  const read = await readArchive(await host.archive(sha, signal), sha, repository).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
    throw new FetchFailure(504, `the archive of ${name} did not come in time; deliver the push again`, cause);
  });
  if (read.files.length > 0) return read;
  const where = path === "" ? name : `folder ${path} of ${name}`;
  throw new FetchFailure(422, `there is no file with configuration in ${where} at commit ${sha}; is the path right?`);
}
