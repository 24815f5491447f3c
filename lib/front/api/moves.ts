import { isRecord } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { isLoopback } from "../../base/loopback.ts";
import { bytesOf } from "../../limits/read-body.ts";
import { HeadMoved } from "../../snapshot/head/history/head-moved.ts";
import { hostName } from "../auth/open-to.ts";
import type { Front } from "../front.ts";
import type { Move } from "../operate/moves.ts";
import type { BodyServices } from "../polls/poll.ts";
import { type Answered, type Asked, found, refused } from "./asked.ts";
import { nothingPublished } from "./browsed.ts";
import type { Overview } from "./schema/answers.ts";
import type { MoveAnswer, MoveBody } from "./schema/changes.ts";

/** Whether this front moves HEAD, for whoever looks. */
export const movesHere = ({ moves }: Pick<Front, "moves">): Overview["moves"] =>
  moves === undefined
    ? { isHere: false, reason: "this front only reads; the command line moves HEAD" }
    : { isHere: true };

/**
 * Moves HEAD, if whoever asks is an operator, asks from a page of this front's own or from none, and has seen HEAD as it is.
 */
export async function answerMove(
  front: BodyServices & Pick<Front, "moves" | "heads" | "onError">,
  asked: Asked,
): Promise<Answered<MoveAnswer>> {
  if (front.moves === undefined) return refused(403, "this front only reads; the command line moves HEAD");
  const foreign = otherOrigin(asked);
  if (foreign !== undefined) return refused(403, foreign);
  const body = await asked.body({ maxBytes: front.limits.noticeBytes, pool: front.bodies });
  if (body.kind === "refused") return refused(body.status === 503 ? 503 : 400, body.reason);
  const wanted = readMove(new TextDecoder().decode(bytesOf(body)));
  if (wanted === undefined) return refused(400, moveForm);
  if ((await front.heads.current()) === undefined) return nothingPublished;
  const by = asked.caller.kind === "anyone" ? "console" : asked.caller.subject;
  try {
    // What this process remembers of HEAD may be older than what the operator has seen, or than what is there.
    const { move, why, generation: seen } = wanted;
    const { head, root, left } = await front.moves.move(move, { by, why, seen });
    return found({ generation: head.generation, root, ...(left === undefined ? {} : { left }), by });
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    if (!(cause instanceof HeadMoved)) front.onError(cause);
    return refused(409, cause.message);
  }
}

/**
 * Why a request may be another page's, sent by a browser whose user knows nothing of it. A page of another origin cannot send JSON here
 * without being let in, and none is. Where callers do not prove who they are, a name that another's server gave this address counts
 * as another origin.
 */
function otherOrigin({ caller, header }: Asked): string | undefined {
  if (header("content-type") !== "application/json") return "a move is sent as application/json";
  const site = header("sec-fetch-site");
  const origin = header("origin");
  const host = header("host") ?? "";
  const isOwn = site === undefined ? origin === undefined || originHost(origin) === host : site === "same-origin";
  if (!isOwn) return "a move is sent by the console's own page, or by a program";
  const isForwarded = header("x-forwarded-for") !== undefined || header("forwarded") !== undefined;
  if (caller.kind === "anyone" && (isForwarded || !isLoopback(hostName(host))))
    return `there is no authentication here, so only this machine may move HEAD, and not ${hostName(host).slice(0, 100)}`;
  return undefined;
}

const originHost = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : "");

const moveForm =
  'a move is {"move": "rollback" | "unpin" | "promote" | "abort", "generation": of HEAD as you saw it, "why": "…"}, a rollback with "to": the 64 digits of a version';

interface AskedMove {
  readonly move: Move;
  readonly generation: number;
  readonly why: string;
}

const maxWhy = 500;

/** @returns undefined for what is no move */
function readMove(text: string): AskedMove | undefined {
  const body = parsed(text);
  if (!isRecord(body) || Object.keys(body).some((key) => !Object.hasOwn(known, key))) return undefined;
  const { generation, why, to } = body;
  if (typeof generation !== "number" || typeof why !== "string") return undefined;
  if (why.trim() === "" || why.length > maxWhy) return undefined;
  const move = moveOf(body.move, to);
  return move && { move, generation, why: why.trim() };
}

const known: Readonly<Record<keyof MoveBody, true>> = { move: true, generation: true, why: true, to: true };

function moveOf(kind: unknown, to: unknown): Move | undefined {
  if (kind === "rollback") return typeof to === "string" && /^[0-9a-f]{64}$/.test(to) ? { kind, to } : undefined;
  return to === undefined && (kind === "unpin" || kind === "promote" || kind === "abort") ? { kind } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
