import type { Context } from "hono";
import { PortolanError } from "../../config/diagnostic.ts";
import { isFields, jsonIn, textOf } from "../../config/untyped.ts";

/** GitHub and GitLab wait ten seconds, and the answer has to get there. */
export const forgeWaitMs = 8_000;

export interface AnswerOptions {
  /** How long whoever asks waits for an answer. Absent: as long as it takes, since nothing goes on after an answer here. */
  readonly withinMs?: number | undefined;
  /** Told why work that was answered before its end came to nothing. */
  readonly onError?: ((cause: unknown) => void) | undefined;
}

/** The answer to a request, or, where it takes longer than whoever asks waits, 202; the work goes on then. */
export async function answerInTime(
  context: Context,
  work: Promise<Response>,
  { withinMs, onError = () => {} }: AnswerOptions,
): Promise<Response> {
  if (withinMs === undefined) return work;
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), withinMs);
  const answer = await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
  if (answer !== undefined) return answer;
  goOn(
    context,
    work.then(reasonOf).then((reason) => reason !== undefined && onError(new PortolanError(reason)), onError),
  );
  const reason = "it takes longer than a webhook waits; the compile function's log has what comes of it";
  return Response.json({ kind: "accepted", reason }, { status: 202 });
}

/** A Worker ends with its answer, unless it is told of the rest; a process on Node goes on. */
function goOn(context: Context, rest: Promise<unknown>): void {
  try {
    context.executionCtx.waitUntil(rest);
  } catch {
    // Hono throws where the platform has no such thing.
  }
}

/** Why a request was refused; undefined for one that was not. */
async function reasonOf(response: Response): Promise<string | undefined> {
  if (response.ok) return undefined;
  const answer = jsonIn(await response.text());
  return `${response.status}: ${isFields(answer) ? textOf(answer.detail) : ""}`;
}
