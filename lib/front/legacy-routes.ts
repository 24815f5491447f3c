import { createAnswerCache } from "../legacy/answer-cache.ts";
import { answerCompiled, type TaggedAnswer } from "../legacy/compiled-legacy.ts";
import { encodeDocument } from "../legacy/go-json.ts";
import { failure, type ParsedV1Request, parseV1Request, type V1Answer, type V1Request } from "../legacy/v1-request.ts";
import { isWithin } from "../snapshot/free-text.ts";
import { type OpenedDocument, openDocument } from "../snapshot/legacy/read-document.ts";
import type { Front } from "./front.ts";
import { type Answer, textAnswer } from "./requests/answer.ts";
import { type Asked, plain, type Route } from "./requests/routes.ts";

/**
 * The REST v1 API of Istio 0.8, from the store alone: `/v1/…`, `/cache_stats`, `/cache_stats_delete`.
 * Besides what the release did, every document has an entity tag.
 *
 * @param now milliseconds of any clock
 */
export function legacyRoutes(
  front: Pick<Front, "reader" | "served" | "limits" | "answers">,
  now: () => number = Date.now,
): readonly Route[] {
  // A hit is an answer of the root in force that the same URL was given before. The bodies are not kept: they are spliced anew.
  const cache = createAnswerCache<{ readonly answer: V1Answer }>(now, 0, front.limits.countedUrlBytes);
  let countedRoot = "";

  async function answerOf(request: V1Request): Promise<TaggedAnswer> {
    const { question, answer } = parseV1Request(request);
    if (question === undefined) return { answer };
    if (question.kind === "statistics") {
      const body = encodeDocument(cache.statistics());
      return { answer: { status: 200, body, contentType: "application/json" } };
    }
    if (question.kind === "reset-statistics") {
      cache.resetCounters();
      return { answer: { status: 200, body: "" } };
    }
    return compiledAnswer(question, request);
  }

  async function compiledAnswer(
    question: Exclude<ParsedV1Request, { readonly kind: "statistics" | "reset-statistics" }>,
    request: V1Request,
  ): Promise<TaggedAnswer> {
    const served = await front.served({ nodeId: nodeIdOf(question), labels: () => ({}) });
    if (served === undefined) return { answer: failure(503, question.kind, "nothing was published yet") };
    const { loaded } = served;
    const { legacy } = loaded.root;
    if (legacy === undefined) return { answer: failure(404, question.kind, "this snapshot has no v1 answers") };
    if (loaded.hash !== countedRoot) cache.clear();
    countedRoot = loaded.hash;
    const made = answerCompiled(await front.reader.legacy(legacy), question);
    if (cache.find(request) === undefined) cache.keep(request, { answer: { ...made.answer, body: "" } });
    return made;
  }

  const to = plain(async ({ request: { method, target: path, header } }: Asked) => {
    const accept = header("accept");
    if (!isWithin(path, front.limits.urlBytes)) return textAnswer("414: Request URI Too Long", 414);
    const request = { method: method === "HEAD" ? "GET" : method, path, ...(accept === undefined ? {} : { accept }) };
    return toAnswer(front, await answerOf(request), header("if-none-match"));
  });
  return paths.map((path) => ({ method: "any", path, to }));
}

const paths = ["/v1/*", "/cache_stats", "/cache_stats/", "/cache_stats_delete", "/cache_stats_delete/"];

/** Answers up to this size are not counted: the number of connections bounds them. */
const smallBytes = 16 * 1024;

/** What a canary's share is counted by; "" where no node asks. */
function nodeIdOf(question: ParsedV1Request): string {
  if (!("node" in question)) return "";
  const { type, ip, id, domain } = question.node;
  return [type, ip, id, domain].join("~");
}

async function toAnswer(
  front: Pick<Front, "answers" | "reader">,
  { answer, etag, stored }: TaggedAnswer,
  known: string | undefined,
): Promise<Answer> {
  const { status, body, location } = answer;
  const type = answer.contentType ?? (answer.document === undefined ? "text/plain; charset=utf-8" : "application/json");
  const tag = status === 200 ? `"${etag ?? (await digestOf(body))}"` : undefined;
  const headers = {
    "content-type": type,
    ...(tag === undefined ? {} : { etag: tag }),
    ...(location === undefined ? {} : { location }),
  };
  if (tag !== undefined && names(known, tag)) return { status: 304, headers: { etag: tag } };
  if (stored === undefined && body.length <= smallBytes) return { status, headers, body };
  const { bytes, heldBytes, chunks } =
    stored === undefined ? madeDocument(body) : await openDocument(stored, front.reader);
  const sized = { status, headers: { ...headers, "content-length": String(bytes) } };
  if (heldBytes <= smallBytes) return { ...sized, body: { bytes, chunks } };
  const sent = front.answers.tryEnter(heldBytes);
  if (sent === undefined) return textAnswer("too many answers are under way; try again", 503);
  return { ...sized, body: { bytes, chunks, sent } };
}

/** A body that is made from the index. */
function madeDocument(body: string): OpenedDocument {
  const bytes = new TextEncoder().encode(body);
  return {
    bytes: bytes.length,
    heldBytes: bytes.length,
    async *chunks() {
      yield bytes;
    },
  };
}

/** Does an `If-None-Match` header name the tag? Weak tags compare like strong ones here. */
function names(header: string | undefined, tag: string): boolean {
  return (header ?? "").split(",").some((part) => {
    const named = part.trim().replace(/^W\//, "");
    return named === "*" || named === tag;
  });
}

async function digestOf(body: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
