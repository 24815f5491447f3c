import { Hono } from "hono/tiny";
import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { createBodyPool } from "../../limits/body-pool.ts";
import { limits } from "../../limits/limits.ts";
import { cutText, maxFreeTextBytes } from "../../snapshot/free-text.ts";
import { NothingToDifferFrom, type Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { boundedAnswer } from "../bounded-diagnostics.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import { statusesOfSource } from "../statuses/newest-statuses.ts";
import type { AnswerOptions } from "./answer-in-time.ts";
import { createOnce, problem } from "./delivery.ts";
import { createFillSource } from "./fill-source.ts";
import { forgeHooks } from "./forge-hooks.ts";
import { createGuard } from "./guard.ts";
import { objectsPath } from "./object-signature.ts";
import { objectsApp } from "./objects.ts";
import { ownDiagnostics } from "./own-diagnostics.ts";
import { createQuota } from "./quota.ts";
import { fillForm, readFill, tooLong } from "./read-fill.ts";
import { FetchFailure } from "./repository/fetch-failure.ts";
import { createFetches } from "./repository/fetches.ts";
import { noRepositories, type Repositories } from "./repository/read-repositories.ts";
import { sourcesSetting } from "./sources-setting.ts";
import { askingSecrets, secretsOf, sourcesShownTo, type WebhookSecrets } from "./webhook-secrets.ts";

export interface WebhookOptions {
  readonly store: ObjectStore;
  readonly recompile: (publishing?: Publishing) => Promise<Recompiled>;
  readonly secrets: WebhookSecrets;
  /** Sources that may be filled over HTTP. */
  readonly sources: readonly string[];
  /**
   * The hosts, with their ports where these are not the scheme's own, that requests may be signed for: `hooks.example.com`. Absent or none:
   * the host that a request was sent to, which is as good where that decides where a request ends up.
   */
  readonly audiences?: () => readonly string[];
  /** Repositories that sources are filled from; none when absent. */
  readonly repositories?: Repositories;
  /** How a forge's webhook is answered, where work can go on after an answer; absent: when the work is done. */
  readonly answer?: Pick<AnswerOptions, "withinMs" | "goesOn">;
  readonly now?: () => number;
  readonly onError?: (cause: unknown) => void;
}

/**
 * The compile function over HTTP. `POST /hooks/recompile` compiles what the sources hold now; `POST /sources/<name>` with
 * `{"files": [{"file", "text"}]}` (`readFill`) fills one first; `/objects/` gives the sources' objects to `httpStore`. Every request is
 * signed, and every write good for once. `GET /sources/<name>/statuses` says what is to be told to a source's objects. `/hooks/github/<source>` and
 * `/hooks/gitlab/<source>` fill a source from its repository and compile when a push is told of.
 */
export const webhookApp = (options: WebhookOptions): Hono => webhookFunction(options).app;

export interface WebhookFunction {
  readonly app: Hono;
  /** Carries out what deliveries were promised by 202 and no process is at work on; as `Fetches.resume`. */
  readonly resume: () => Promise<number>;
}

/** The same, for those who take up what a process that has ended had promised: at their start, and by a schedule. */
export function webhookFunction(options: WebhookOptions): WebhookFunction {
  const { store, secrets, sources } = options;
  const now = options.now ?? Date.now;
  const pool = createBodyPool(limits);
  const once = createOnce(store, now);
  const guard = createGuard({ secrets, audiences: options.audiences ?? (() => []), pool, once, now });
  const quota = createQuota(store, now);
  const fill = createFillSource(store, quota);
  const app = new Hono();
  /** @param shown sources whose diagnostics are told; undefined for all @param more is told besides */
  const recompiled = async (
    shown: readonly string[] | undefined,
    publishing?: Publishing,
    more: object = {},
  ): Promise<Response> => {
    if (shown === undefined) return Response.json({ ...(await options.recompile(publishing)), ...more });
    const own = (diagnostics: readonly Diagnostic[], primary?: string) =>
      ownDiagnostics(store, shown, diagnostics, primary);
    try {
      const { diagnostics, ...came } = await options.recompile(publishing);
      return Response.json({ ...came, ...more, diagnostics: await own(diagnostics, came.primary) });
    } catch (cause) {
      if (!(cause instanceof PortolanError) || cause.diagnostics.length === 0) throw cause;
      const diagnostics = await own(cause.diagnostics);
      if (diagnostics.length === cause.diagnostics.length) throw cause;
      options.onError?.(cause);
      return Response.json({ status: 422, detail: ofOthers, diagnostics }, { status: 422 });
    }
  };

  app.post("/hooks/recompile", (c) => {
    const guarded = {
      secrets: askingSecrets(secrets),
      target: targetOf(c.req.raw),
      maxBytes: limits.noticeBytes,
      once: true,
    };
    return guard(c, guarded, (_body, _mayWrite, secret) => recompiled(sourcesShownTo(secrets, secret)));
  });

  app.post("/sources/:name", (c) => {
    const name = c.req.param("name");
    const guarded = {
      secrets: secretsOf(secrets, name),
      target: targetOf(c.req.raw),
      maxBytes: limits.sourceBytes,
      once: true,
    };
    return guard(c, guarded, async (body, mayWrite, secret) => {
      if (!sources.includes(name)) return problem(404, noSource(name));
      const read = readFill(new TextDecoder().decode(body));
      if (read === undefined) return problem(422, fillForm);
      const long = tooLong(read);
      if (long !== undefined) return problem(422, long);
      const { files, allowEmpty, acceptClosed, publishing } = read;
      const isOperator = secrets.operators.includes(secret);
      // Nodes of all sources would be moved, and everybody else held where he is, whatever an operator has pinned.
      if (publishing.share !== undefined && !isOperator) return problem(403, ofOperators);
      const { share } = publishing;
      const refusal = await fill(name, files, { bytes: body.length, allowEmpty, acceptClosed, share, mayWrite });
      if (refusal !== undefined) return refusal;
      return isOperator
        ? recompiled(undefined, publishing)
        : recompiled([name], { ...publishing, by: signedBy(publishing.by, name) });
    });
  });

  app.get("/sources/:name/statuses", (c) => {
    const name = c.req.param("name");
    const guarded = { secrets: secretsOf(secrets, name), target: targetOf(c.req.raw), maxBytes: 0, once: false };
    return guard(c, guarded, async () => {
      if (!sources.includes(name)) return problem(404, noSource(name));
      const newest = await statusesOfSource(store, name, c.req.query("known"));
      return Response.json(newest ?? null);
    });
  });

  const { repositories = noRepositories, onError = () => {} } = options;
  const ofSource = (source: string, publishing: Publishing | undefined, more: object) =>
    recompiled([source], publishing, more);
  const fetches = createFetches({ store, repositories, once, fill, recompiled: ofSource, onError });
  const answer = { ...options.answer, onError };
  const forges = forgeHooks({
    ...{ secrets, sources, repositories, pool, once, now, fetches, answer },
    recompiled: ofSource,
  });
  app.route("/hooks", forges);
  app.route(objectsPath, objectsApp({ store, secrets, sources, guard, quota }));

  app.notFound((c) => problem(404, `there is no ${c.req.method} ${c.req.path} here`));
  app.onError((cause) => {
    if (cause instanceof NothingToDifferFrom) return problem(422, cause.message);
    options.onError?.(cause);
    if (cause instanceof FetchFailure) return problem(cause.status, cause.message);
    if (!(cause instanceof PortolanError)) return problem(500, "an error of Portolan's own; its log has more");
    // A message with diagnostics is about what was sent, one without is about the store.
    const diagnostics = boundedAnswer(cause.diagnostics);
    return diagnostics.length > 0
      ? Response.json({ status: 422, detail: cause.message, diagnostics }, { status: 422 })
      : problem(503, cause.message);
  });
  return { app, resume: fetches.resume };
}

const ofOthers =
  "the sources as they are now are not published, and HEAD is as it was; diagnostics of other sources are in the compile function's log";

const noSource = (name: string): string => `there is no source ${name}: add it to ${sourcesSetting}`;

const ofOperators =
  "a canary decides for all sources: sign it with the secret that is good for all of them, or push without a share";

/** What a source's own secret is good for is no operator's act, whoever it says has sent it. A long name does not push out what was proven. */
const signedBy = (by = "", source: string): string =>
  `${by === "" ? "somebody" : cutText(by, maxFreeTextBytes.by / 2)}, with the secret of source ${source}`;

function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
