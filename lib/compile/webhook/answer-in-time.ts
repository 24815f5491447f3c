import type { Context } from "hono";
import { PortolanError } from "../../config/diagnostic.ts";
import { isFields, jsonIn, textOf } from "../../config/untyped.ts";

/** GitHub and GitLab wait ten seconds; two are left for the way. */
export const forgeWaitMs = 8_000;

export interface AnswerOptions {
  /** When to answer at the latest. Absent: when the work is done, for platforms where nothing runs after an answer. */
  readonly withinMs?: number | undefined;
  /** Called with the reason when work fails after its answer. */
  readonly onError?: ((cause: unknown) => void) | undefined;
}

/** The answer of some work, or 202 where the work takes longer than its sender waits; it goes on then. */
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
  const reason = "the work takes longer than a webhook waits, and goes on; the compile function's log has the outcome";
  return Response.json({ kind: "accepted", reason }, { status: 202 });
}

/** A Worker ends with its answer, except for what `waitUntil` is given; a process on Node goes on. */
function goOn(context: Context, rest: Promise<unknown>): void {
  try {
    context.executionCtx.waitUntil(rest);
  } catch {
    // Hono throws where the platform has no execution context.
  }
}

/** Why a request was refused; undefined for one that was not. */
async function reasonOf(response: Response): Promise<string | undefined> {
  if (response.ok) return undefined;
  const answer = jsonIn(await response.text());
  return `${response.status}: ${isFields(answer) ? textOf(answer.detail) : ""}`;
}
