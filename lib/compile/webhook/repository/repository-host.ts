import { answerText } from "../../../base/answer-text.ts";
import { causeText, firstLine } from "../../../base/cause-text.ts";
import { leadsToLoopback } from "../../../base/loopback.ts";
import { fieldsOf, jsonIn, textOf } from "../../../base/untyped.ts";
import { FetchFailure } from "./fetch-failure.ts";
import type { Repository } from "./read-repositories.ts";

export interface Commit {
  /** 40 hexadecimal digits, 64 in a repository with SHA-256. */
  readonly sha: string;
  readonly author: string;
  /** First line of its message. */
  readonly title: string;
}

/** The host of a repository, by its HTTP API. Both calls throw a `FetchFailure` with what to do. */
export interface RepositoryHost {
  /** The newest commit of the branch. */
  newest(signal: AbortSignal): Promise<Commit>;
  /** The archive of a commit, a gzip-compressed tar. */
  archive(sha: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export const isSha = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** An answer about a branch has some kilobytes. */
const maxAnswerBytes = 1024 * 1024;
/** GitHub sends an archive from another host, and a renamed repository from another path. */
const maxRedirects = 5;

export function repositoryHost(repository: Repository): RepositoryHost {
  const { host, api, name, branch } = repository;
  const headers = headersFor(repository);
  const get = (path: string, signal: AbortSignal) => follow(new URL(api + path), { repository, headers, signal });
  const base = host === "github" ? `/repos/${name}` : `/projects/${encodeURIComponent(name)}/repository`;
  const inPath = host === "github" ? branch.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(branch);
  return {
    async newest(signal) {
      const response = await get(`${base}/branches/${inPath}`, signal);
      const text = await answerText(response, maxAnswerBytes).catch((cause: unknown) => {
        throw unreachable(repository, signal, cause);
      });
      const commit = fieldsOf(fieldsOf(jsonIn(text ?? "")).commit);
      const read = host === "github" ? githubCommit(commit) : gitlabCommit(commit);
      if (isSha(read.sha)) return read;
      throw new FetchFailure(502, `${new URL(api).host} does not say which commit branch ${branch} of ${name} is at`);
    },
    async archive(sha, signal) {
      const path = host === "github" ? `${base}/tarball/${sha}` : `${base}/archive.tar.gz?sha=${sha}`;
      const { body } = await get(path, signal);
      if (body === null) throw new FetchFailure(502, `${new URL(api).host} sends no archive of ${name}`);
      return body;
    },
  };
}

function githubCommit({ sha, commit }: Readonly<Record<string, unknown>>): Commit {
  const { author, message } = fieldsOf(commit);
  return { sha: textOf(sha), author: textOf(fieldsOf(author).name), title: firstLine(textOf(message)) };
}

const gitlabCommit = ({ id, author_name: author, title }: Readonly<Record<string, unknown>>): Commit => ({
  sha: textOf(id),
  author: textOf(author),
  title: firstLine(textOf(title)),
});

function headersFor({ host, token }: Repository): Readonly<Record<string, string>> {
  const accepted =
    host === "github" ? { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" } : {};
  const credentials = host === "github" ? { authorization: `Bearer ${token}` } : { "private-token": `${token}` };
  return { "user-agent": "portolan", ...accepted, ...(token === undefined ? {} : credentials) };
}

interface Following {
  readonly repository: Repository;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Follows redirects. The token is sent to the API's own origin only, and no request leaves this machine without TLS. */
async function follow(first: URL, { repository, headers, signal }: Following): Promise<Response> {
  let url = first;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const isHome = url.origin === first.origin;
    const sent = isHome ? headers : { "user-agent": "portolan" };
    const response = await fetch(url.href, { headers: sent, redirect: "manual", signal }).catch((cause: unknown) => {
      throw unreachable(repository, signal, cause);
    });
    if (response.status < 300 || response.status >= 400)
      return isHome ? checked(response, repository) : archived(response, url);
    await response.body?.cancel();
    url = target(response.headers.get("location") ?? "", url, first);
  }
  throw new FetchFailure(502, `${first.host} leads from one address to another more than ${maxRedirects} times`);
}

function target(location: string, from: URL, first: URL): URL {
  if (!URL.canParse(location, from.href)) throw new FetchFailure(502, `${from.host} leads to an address that is none`);
  const to = new URL(location, from);
  const isSafe = to.protocol === "https:" || (to.protocol === "http:" && leadsToLoopback(to) && leadsToLoopback(first));
  if (isSafe && to.username + to.password === "") return to;
  throw new FetchFailure(
    502,
    `${from.host} leads to ${to.protocol}//${to.host}, which is not followed: only https:// addresses are`,
  );
}

async function checked(response: Response, { api, name, branch, token }: Repository): Promise<Response> {
  if (response.ok) return response;
  await response.body?.cancel();
  const { host } = new URL(api);
  const { status } = response;
  const why =
    status === 401
      ? "the token is not valid: put a new one into PORTOLAN_REPOSITORY_TOKENS"
      : status === 403 || status === 429
        ? "the token may not read it, or has asked too often: look at its rights and at the host's rate limit"
        : status === 404
          ? `there is no such repository, or no branch ${branch}, or ${token === undefined ? "it needs a token" : "the token may not read it"}`
          : "look at the state of the host, and deliver the push again";
  throw new FetchFailure(502, `${host} answers ${status} for ${name}: ${why}`);
}

async function archived(response: Response, { host }: URL): Promise<Response> {
  if (response.ok) return response;
  await response.body?.cancel();
  throw new FetchFailure(
    502,
    `${host} answers ${response.status} when it is asked for the archive; deliver the push again`,
  );
}

function unreachable({ api }: Repository, signal: AbortSignal, cause: unknown): FetchFailure {
  const { host } = new URL(api);
  if (signal.aborted) return new FetchFailure(504, `${host} does not answer in time; deliver the push again`, cause);
  return new FetchFailure(502, `${host} cannot be reached: ${causeText(cause)}`, cause);
}
