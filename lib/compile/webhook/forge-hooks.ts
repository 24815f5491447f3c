import { type Context, Hono } from "hono";
import type { BodyPool } from "../../limits/body-pool.ts";
import { limits } from "../../limits/limits.ts";
import { bytesOf, readBody } from "../../limits/read-body.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { type AnswerOptions, answerInTime } from "./answer-in-time.ts";
import { type Once, problem } from "./delivery.ts";
import { judgeGithub, judgeGithubHeaders } from "./github.ts";
import { judgeGitlab, judgeGitlabHeaders } from "./gitlab.ts";
import { type Fetches, notKept } from "./repository/fetches.ts";
import { type PushEvent, pushOfGithub, pushOfGitlab, whyIgnored } from "./repository/push-event.ts";
import type { Repositories, Repository } from "./repository/read-repositories.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

interface ForgeOptions {
  readonly secrets: WebhookSecrets;
  readonly sources: readonly string[];
  readonly repositories: Repositories;
  readonly pool: BodyPool;
  readonly once: Once;
  readonly now: () => number;
  readonly fetches: Fetches;
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

function createDeliver({ once, recompiled, repositories, fetches, answer }: ForgeOptions) {
  return async (context: Context, { source, host, key, event }: Delivery): Promise<Response> => {
    const repository = repositories.get(source);
    if (repository === undefined) {
      const compiled = once(`${host} ${source}`, key, () =>
        recompiled(source, undefined, { note: nothingFetched(source) }),
      );
      // Nothing to keep: whatever process starts, or has its schedule, compiles what the source holds.
      return answerInTime(context, compiled, answer, async () => undefined);
    }
    const reason = whyIgnored(event, host, repository);
    if (reason !== undefined || event === undefined) return Response.json({ kind: "ignored", source, reason });
    const filled = fetches.carryOut(source, repository, key, event);
    return answerInTime(context, filled, answer, () =>
      fetches.promise(source, key, event).then(() => undefined, notKept),
    );
  };
}

const nothingFetched = (source: string): string =>
  `nothing was fetched, since no repository is set for source ${source}; PORTOLAN_REPOSITORIES, or compile.webhook.repositories, sets one`;
