import { answerText } from "../base/answer-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { hostIn, isLoopback } from "../base/loopback.ts";

/**
 * Asks over HTTP and follows no redirect. On Node it refuses to connect to private addresses; where a platform connects by itself (Workers),
 * the platform has no way into private networks.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  readonly headers: Readonly<Record<string, string>>;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

export interface FetchRules {
  /** Names and addresses of hosts that may be asked in clear text, and may be in a private network. */
  readonly allowedHosts: ReadonlySet<string>;
  /** How long a look-up may take, with all its redirects, in milliseconds. */
  readonly withinMs: number;
  /** Whether clear text will do, since what is read is known by its hash; absent: it will not. */
  readonly takesClearText?: boolean;
}

export const usualWithinMs = 10_000;

const maxRedirects = 3;

export type FetchedText =
  | { readonly kind: "unchanged" }
  | { readonly kind: "text"; readonly text: string; readonly etag: string | undefined };

export interface TextRequest {
  readonly url: string;
  readonly maxBytes: number;
  /** Media types that the answer may be of; absent: those of key sets. */
  readonly accept?: string;
  /** Of the text that is known. */
  readonly etag?: string | undefined;
  /** Of the look-up that it is a part of; absent: it has all the time that the rules give one. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a text, over at most three redirects.
 *
 * @throws PortolanError that says which host did what, and which setting would help
 */
export async function fetchText(
  fetch: Fetch,
  rules: FetchRules,
  { url, maxBytes, accept = "application/json, application/jwk-set+json", etag, signal }: TextRequest,
): Promise<FetchedText> {
  const headers = {
    accept,
    ...(etag === undefined ? {} : { "if-none-match": etag }),
  };
  return fetchAnswer(fetch, rules, { url, headersAt: () => headers, signal }, async (response, { href }) => {
    if (response.status === 304 && etag !== undefined) return { kind: "unchanged" };
    if (response.status !== 200) throw new PortolanError(`${href} answers ${response.status}`);
    const text = await answerText(response, maxBytes);
    if (text === undefined) throw new PortolanError(`${href} answers with more than ${maxBytes / 1024} KiB`);
    return { kind: "text", text, etag: boundedTag(response.headers.get("etag")) };
  });
}

export interface AnswerRequest {
  readonly url: string;
  /** Of the request to each URL: a redirect may lead to somebody who is to be told less. */
  readonly headersAt: (url: URL) => Readonly<Record<string, string>>;
  /** Of the look-up that it is a part of; absent: it has all the time that the rules give one. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks for an answer that is no redirect, over at most three of these.
 *
 * @param use reads it; what it leaves unread is let go
 * @throws PortolanError that says which host did what, and which setting would help
 */
export async function fetchAnswer<T>(
  fetch: Fetch,
  rules: FetchRules,
  { url, headersAt, signal = AbortSignal.timeout(rules.withinMs) }: AnswerRequest,
  use: (response: Response, at: URL) => Promise<T>,
): Promise<T> {
  let at = checkedUrl(url, rules);
  for (let redirects = 0; ; redirects += 1) {
    // A compressed answer could be larger than its bytes say.
    const headers = { ...headersAt(at), "accept-encoding": "identity" };
    const response = await fetch(at.href, { headers, redirect: "manual", signal }).catch((cause: unknown) => {
      throw signal.aborted ? tooSlow(at, rules) : cause;
    });
    try {
      const { status } = response;
      if (status >= 300 && status < 400 && status !== 304) {
        if (redirects === maxRedirects)
          throw new PortolanError(`${url} leads from one redirect to the next, over more than ${maxRedirects}`);
        at = checkedUrl(redirectOf(at, response), rules);
        continue;
      }
      return await use(response, at).catch((cause: unknown) => {
        throw signal.aborted ? tooSlow(at, rules) : cause;
      });
    } finally {
      // Nothing is left open where the answer was not read to its end.
      if (response.body?.locked === false) await response.body.cancel().catch(() => {});
    }
  }
}

const tooSlow = ({ host }: URL, { withinMs }: FetchRules): PortolanError =>
  new PortolanError(`${host} did not answer within ${withinMs / 1000} s`);

function redirectOf(from: URL, response: Response): string {
  const location = response.headers.get("location");
  const to = location === null ? null : URL.parse(location, from.href);
  if (to === null) throw new PortolanError(`${from.href} answers ${response.status} without a valid Location header`);
  return to.href;
}

/** Nobody needs a longer one, and it is stored. */
export const boundedTag = (tag: string | null): string | undefined =>
  tag === null || tag.length > 256 ? undefined : tag;

/** @throws PortolanError for a URL that is not asked */
function checkedUrl(text: string, { allowedHosts, takesClearText = false }: FetchRules): URL {
  const url = URL.parse(text);
  if (url === null) throw new PortolanError(`${JSON.stringify(text)} is no URL`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new PortolanError(`${text} is asked over ${url.protocol.slice(0, -1)}; write an https URL`);
  if (url.username !== "" || url.password !== "")
    throw new PortolanError(`${url.host}: the URL holds a password, which would be stored with the configuration`);
  const host = hostIn(url);
  if (allowedHosts.has(host)) return url;
  if (url.protocol === "http:" && !takesClearText)
    throw new NotAllowed(`${text} is clear text, which can be exchanged on its way; write https, or ${allow(host)}`);
  if (isLoopback(host)) throw new NotAllowed(`${host} is this machine; ${allow(host)} to ask it`);
  return url;
}

/** This process may not ask a host; another one, with other settings, may. */
export class NotAllowed extends PortolanError {}

/** @returns what to do where a host is refused */
export const allow = (host: string): string =>
  `name ${host} in resolver.allowedHosts (PORTOLAN_RESOLVER_ALLOWED_HOSTS)`;
