import type { Context } from "hono";
import { PortolanError } from "../../base/diagnostic.ts";
import { isFields, jsonIn, textOf } from "../../base/untyped.ts";

/** GitHub and GitLab wait ten seconds; two are left for the way. */
export const forgeWaitMs = 8_000;

export interface AnswerOptions {
  /** When to answer at the latest. Absent: when the work is done, for platforms where nothing runs after an answer. */
  readonly withinMs?: number | undefined;
  /** Is given work that goes on after its answer, where no platform takes it; a process that ends waits for it. */
  readonly goesOn?: ((work: Promise<unknown>) => void) | undefined;
  /** Called with the reason when work fails after its answer. */
  readonly onError?: ((cause: unknown) => void) | undefined;
}

/**
 * The answer of some work, or 202 where the work takes longer than its sender waits; it goes on then.
 *
 * @param keep sees to it that the work is done should this process end, before 202 is answered; a response is answered instead
 */
export async function answerInTime(
  context: Context,
  work: Promise<Response>,
  { withinMs, goesOn = () => {}, onError = () => {} }: AnswerOptions,
  keep: () => Promise<Response | undefined>,
): Promise<Response> {
  if (withinMs === undefined) return work;
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), withinMs);
  const answer = await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
  if (answer !== undefined) return answer;
  const rest = work
    .then(reasonOf)
    .then((failure) => failure !== undefined && onError(new PortolanError(failure)), onError);
  goOn(context, rest, goesOn);
  const refusal = await keep();
  if (refusal !== undefined) return refusal;
  const reason =
    "the compile takes longer than a webhook waits and continues; see the compile function's log for the result";
  return Response.json({ kind: "accepted", reason }, { status: 202 });
}

/** A Worker ends with its answer, except for what `waitUntil` is given. */
function goOn(context: Context, rest: Promise<unknown>, goesOn: (work: Promise<unknown>) => void): void {
  const platform = executionOf(context);
  if (platform === undefined) goesOn(rest);
  else platform.waitUntil(rest);
}

function executionOf(context: Context): Context["executionCtx"] | undefined {
  try {
    return context.executionCtx;
  } catch {
    // Hono throws on platforms without one.
    return undefined;
  }
}

/** Why a request was refused; undefined for one that was not. */
async function reasonOf(response: Response): Promise<string | undefined> {
  if (response.ok) return undefined;
  const answer = jsonIn(await response.text());
  return `${response.status}: ${isFields(answer) ? textOf(answer.detail) : ""}`;
}
