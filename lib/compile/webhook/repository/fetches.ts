import { PortolanError } from "../../../base/diagnostic.ts";
import { cutText } from "../../../snapshot/free-text.ts";
import type { Publishing } from "../../../snapshot/publish.ts";
import type { ObjectStore } from "../../../storage/object-store.ts";
import { type Once, problem, type StillMine } from "../delivery.ts";
import type { FillSource } from "../fill-source.ts";
import { FetchFailure } from "./fetch-failure.ts";
import { createFetchQueue, FetchAlreadyWaiting } from "./fetch-queue.ts";
import { fillFromRepository } from "./fill-from-repository.ts";
import { createPromisedFetches } from "./promised-fetches.ts";
import type { PushEvent } from "./push-event.ts";
import type { Repositories, Repository } from "./read-repositories.ts";
import type { Commit } from "./repository-host.ts";

export interface FetchesOptions {
  readonly store: ObjectStore;
  readonly repositories: Repositories;
  readonly once: Once;
  readonly fill: FillSource;
  /** Compiles, and adds `more` to what is answered. */
  readonly recompiled: (source: string, publishing: Publishing | undefined, more: object) => Promise<Response>;
  readonly onError: (cause: unknown) => void;
}

/** Fills sources from their repositories, for deliveries that tell of a push. */
export interface Fetches {
  /**
   * Fetches, fills and compiles, once for each delivery; 202 where a fetch that waits brings the commit too.
   *
   * @param delivery names it, among those of the source's host
   */
  carryOut(source: string, repository: Repository, delivery: string, event: PushEvent): Promise<Response>;
  /** Keeps in the store that a delivery is to be carried out. @throws PortolanError where it was not kept */
  promise(source: string, delivery: string, event: PushEvent): Promise<void>;
  /**
   * Carries out what was promised by processes that have ended, and what has failed since.
   *
   * @returns how many another process may be at work on: it is to be asked again when `underWayMs` have passed
   */
  resume(): Promise<number>;
}

/** What is named in `resume` when a fetch was tried as often as it may be. */
const givenUp = (source: string): string =>
  `source ${source} was not filled from its repository, although a delivery was answered with 202: it failed, or its process ended, each time it was tried; push again, or deliver the push again`;

export function createFetches({ store, repositories, once, fill, recompiled, onError }: FetchesOptions): Fetches {
  const inTurn = createFetchQueue();
  const promised = createPromisedFetches(store);

  /** @param begin called first where no other process is at work on the delivery, nor was; false: it is not to be tried again */
  function fetchOnce(
    source: string,
    repository: Repository,
    delivery: string,
    pushes: readonly PushEvent[],
    begin: () => Promise<boolean>,
  ): Promise<Response> {
    const act = async (stillMine: StillMine) => {
      if (!(await begin())) throw new PortolanError(givenUp(source));
      const { commit, events } = await inTurn(source, delivery, pushes, async (all) => ({
        events: all,
        commit: await fillFromRepository({
          repository,
          events: all,
          stillMine,
          fill: (files, bytes, mayWrite) =>
            fill(source, files, { bytes, allowEmpty: false, acceptClosed: false, mayWrite }),
        }),
      }));
      if (commit instanceof Response) return commit;
      return recompiled(source, wordsOf(commit, events, repository), { source, commit: commit.sha });
    };
    // What cannot be settled now is found to be done when it is taken up.
    const settle = () => promised.settle(source, delivery).catch(onError);
    // Under a sender of its own: a delivery that came before its repository was set can be sent again.
    return once(`${repository.host} ${source} fetched`, delivery, async (stillMine) => {
      try {
        const answer = await act(stillMine);
        if (answer.status < 500) await settle();
        return answer;
      } catch (cause) {
        if (isRefusal(cause)) await settle();
        throw cause;
      }
    });
  }

  async function resumeOne(source: string, delivery: string, pushes: readonly PushEvent[]): Promise<boolean> {
    const repository = repositories.get(source);
    if (repository === undefined) {
      await promised.settle(source, delivery);
      return false;
    }
    let hasBegun = false;
    const answer = await fetchOnce(source, repository, delivery, pushes, () => {
      hasBegun = true;
      return promised.mayAttempt(source, delivery);
    });
    if (hasBegun) return false;
    const isDone = answer.status === 409;
    if (isDone) await promised.settle(source, delivery);
    return !isDone;
  }

  return {
    async carryOut(source, repository, delivery, event) {
      try {
        return await fetchOnce(source, repository, delivery, [event], async () => true);
      } catch (cause) {
        if (!(cause instanceof FetchAlreadyWaiting)) throw cause;
        // The delivery is not used up: it can be sent again.
        const refusal = await promised.add(source, cause.delivery, [event]).then(() => undefined, notKept);
        return refusal ?? Response.json({ kind: "accepted", source, reason: alreadyWaiting }, { status: 202 });
      }
    },
    promise: (source, delivery, event) => promised.add(source, delivery, [event]),
    async resume() {
      const fetches = await promised.all();
      const underWay = await Promise.all(
        fetches.map(({ source, delivery, pushes }) =>
          resumeOne(source, delivery, pushes).catch((cause: unknown) => {
            if (!(cause instanceof FetchAlreadyWaiting)) onError(cause);
            return false;
          }),
        ),
      );
      return underWay.filter((isUnderWay) => isUnderWay).length;
    },
  };
}

/** Whether another attempt would end as this one did, since what was fetched is at fault. */
const isRefusal = (cause: unknown): boolean =>
  (cause instanceof FetchFailure && cause.status < 500) ||
  (cause instanceof PortolanError && cause.diagnostics.length > 0);

const alreadyWaiting =
  "an earlier delivery of this source waits to be fetched, and brings this commit too; the compile function's log has the outcome";

/** For a sender that must not be told 202. */
export function notKept(cause: unknown): Response {
  const reason = cause instanceof PortolanError ? cause.message : "an error of Portolan's own; its log has more";
  return problem(
    503,
    `the push is being fetched, but the store did not keep that it is, and it is lost should this process end: deliver it again later (${reason})`,
  );
}

const maxNameBytes = 128;

/** For the history. Anybody can set the name of a commit's author; the host vouches for the login of the pusher. */
function wordsOf({ sha, author, title }: Commit, events: readonly PushEvent[], { name }: Repository): Publishing {
  const login = events.findLast(({ after }) => after === sha)?.pusher ?? "";
  const pusher = login === "" ? "" : `${cutText(login, maxNameBytes)}, `;
  return {
    by: `${pusher}by a push to ${name}`,
    why: `commit ${sha} by ${cutText(author, maxNameBytes)}: ${cutText(title, 1_024)}`,
  };
}
