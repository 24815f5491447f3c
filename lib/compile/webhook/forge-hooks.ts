import { type Context, Hono } from "hono";
import type { BodyPool } from "../../limits/body-pool.ts";
import { limits } from "../../limits/limits.ts";
import { bytesOf, readBody } from "../../limits/read-body.ts";
import { cutText } from "../../snapshot/free-text.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { type AnswerOptions, answerInTime } from "./answer-in-time.ts";
import { type Once, problem } from "./delivery.ts";
import type { FillSource } from "./fill-source.ts";
import { judgeGithub, judgeGithubHeaders } from "./github.ts";
import { judgeGitlab, judgeGitlabHeaders } from "./gitlab.ts";
import { createFetchQueue, FetchAlreadyWaiting } from "./repository/fetch-queue.ts";
import { fillFromRepository } from "./repository/fill-from-repository.ts";
import { type PushEvent, pushOfGithub, pushOfGitlab, whyIgnored } from "./repository/push-event.ts";
import type { Repositories, Repository } from "./repository/read-repositories.ts";
import type { Commit } from "./repository/repository-host.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

interface ForgeOptions {
  readonly secrets: WebhookSecrets;
  readonly sources: readonly string[];
  readonly repositories: Repositories;
  readonly pool: BodyPool;
  readonly once: Once;
  readonly now: () => number;
  readonly fill: FillSource;
  /** Compiles, and adds `more` to what is answered. */
  readonly recompiled: (source: string, publishing: Publishing | undefined, more: object) => Promise<Response>;
  readonly answer: AnswerOptions;
}

/** A genuine delivery for a source. */
interface Delivery {
  readonly source: string;
  readonly host: Repository["host"];
  /** Names it among those of its host for this source. */
  readonly key: string;
  /** Absent: the delivery is about something else than a push to a branch. */
  readonly event: PushEvent | undefined;
}

/**
 * `POST /github/<source>` and `POST /gitlab/<source>`: a delivery in the forge's own form, signed with the secret that the source
 * shares with that forge. The source is filled from the repository that is set for it, if there is one, and all sources are compiled. The secret
 * is good for nothing else: it reads no source, and does not choose what is fetched.
 */
export function forgeHooks(options: ForgeOptions): Hono {
  const { secrets, sources, pool, now } = options;
  const deliver = createDeliver(options);
  const app = new Hono();
  // Unlike a request of our own, a delivery can only be judged when it is read.
  const bodyLimits = { maxBytes: limits.deliveryBytes, pool };

  app.post("/github/:source", async (c) => {
    const source = c.req.param("source");
    const known = sources.includes(source) ? (secrets.github.get(source) ?? []) : [];
    const header = (name: string) => c.req.header(name);
    const early = known.length === 0 ? noSecret(source) : judgeGithubHeaders(header);
    if (early !== undefined) return problem(401, early.reason);
    const read = await readBody(c, bodyLimits);
    if (read.kind === "refused") return problem(read.status, read.reason);
    const verdict = await judgeGithub(known, header, bytesOf(read), now());
    switch (verdict.kind) {
      case "refused":
        return problem(401, verdict.reason);
      case "ping":
        return Response.json({ kind: "pong" });
      case "other":
        return Response.json({ kind: "ignored", source, reason: noPush });
      case "push":
        return deliver(c, { source, host: "github", key: verdict.key, event: pushOfGithub(verdict.content) });
    }
  });

  app.post("/gitlab/:source", async (c) => {
    const source = c.req.param("source");
    const known = sources.includes(source) ? (secrets.gitlab.get(source) ?? []) : [];
    const header = (name: string) => c.req.header(name);
    const early = known.length === 0 ? noSecret(source) : await judgeGitlabHeaders(known, header, now());
    if (early !== undefined) return problem(401, early.reason);
    const read = await readBody(c, bodyLimits);
    if (read.kind === "refused") return problem(read.status, read.reason);
    const body = bytesOf(read);
    const verdict = await judgeGitlab(known, header, body);
    if (verdict.kind === "refused") return problem(401, verdict.reason);
    return deliver(c, { source, host: "gitlab", key: verdict.key, event: pushOfGitlab(body) });
  });
  return app;
}

const noPush = "the event is no push; have the webhook send pushes only";

const noSecret = (source: string) => ({ reason: `no secret of this forge is known for a source ${source}` });

function createDeliver({ once, fill, recompiled, repositories, answer }: ForgeOptions) {
  const inTurn = createFetchQueue();
  return async (context: Context, { source, host, key, event }: Delivery): Promise<Response> => {
    const repository = repositories.get(source);
    if (repository === undefined) {
      const compiled = once(`${host} ${source}`, key, () =>
        recompiled(source, undefined, { note: nothingFetched(source) }),
      );
      return answerInTime(context, compiled, answer);
    }
    const reason = whyIgnored(event, host, repository);
    if (reason !== undefined || event === undefined) return Response.json({ kind: "ignored", source, reason });
    // Under a sender of its own: a delivery that came before its repository was set can be sent again.
    const filled = once(`${host} ${source} fetched`, key, async (stillMine) => {
      const { commit, events } = await inTurn(source, event, async (pushes) => ({
        events: pushes,
        commit: await fillFromRepository({
          repository,
          events: pushes,
          stillMine,
          fill: (files, bytes, mayWrite) =>
            fill(source, files, { bytes, allowEmpty: false, acceptClosed: false, mayWrite }),
        }),
      }));
      if (commit instanceof Response) return commit;
      return recompiled(source, wordsOf(commit, events, repository), { source, commit: commit.sha });
    }).catch((cause: unknown) => {
      // Thrown, not returned: the delivery is not used up, and can be sent again if the fetch that waits fails.
      if (!(cause instanceof FetchAlreadyWaiting)) throw cause;
      return Response.json({ kind: "accepted", source, reason: alreadyWaiting }, { status: 202 });
    });
    return answerInTime(context, filled, answer);
  };
}

const nothingFetched = (source: string): string =>
  `nothing was fetched, since no repository is set for source ${source}; PORTOLAN_REPOSITORIES, or compile.webhook.repositories, sets one`;

const alreadyWaiting =
  "an earlier delivery of this source waits to be fetched, and brings this commit too; the compile function's log has the outcome";

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
