import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface AskedFor {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Answers in place of the host. @returns whether it did */
export type Instead = (url: string, response: ServerResponse) => boolean;

const none = "0".repeat(40);

/**
 * A repository of Git's, and a server that answers about it as GitHub's and GitLab's APIs do: with the archives that `git archive` makes, which
 * both send, GitHub after a redirect to a host of its own.
 */
export class GitHost {
  /** What was asked for at the API, and at the host of archives. */
  readonly asked: AskedFor[] = [];
  readonly archiveAsked: AskedFor[] = [];
  instead: Instead = () => false;
  /** Answers under way: Git reads the repository for them. */
  readonly #answers = new Set<Promise<void>>();
  readonly #folder: string;
  readonly #servers: readonly Server[];
  readonly url: string;
  readonly archiveUrl: string;

  private constructor(folder: string, servers: readonly Server[], [url, archiveUrl]: readonly [string, string]) {
    this.#folder = folder;
    this.#servers = servers;
    this.url = url;
    this.archiveUrl = archiveUrl;
  }

  static async start(): Promise<GitHost> {
    const folder = await mkdtemp(join(tmpdir(), "portolan-git-"));
    let host: GitHost | undefined;
    const api = createServer((request, response) => {
      host?.asked.push({ url: request.url ?? "", headers: request.headers });
      host?.keep(host.answer(request.url ?? "", response));
    });
    const archives = createServer((request, response) => {
      host?.archiveAsked.push({ url: request.url ?? "", headers: request.headers });
      const sha = /\/([0-9a-f]{40})\?/.exec(request.url ?? "")?.[1] ?? "";
      if (host?.instead(request.url ?? "", response) !== true)
        host?.keep(host.sendArchive(sha, `shop-mesh-${sha.slice(0, 7)}`, response));
    });
    const urls = await Promise.all([listen(api, "127.0.0.1"), listen(archives, "localhost")]);
    host = new GitHost(folder, [api, archives], urls);
    await host.git("init", "-q", "-b", "main");
    return host;
  }

  async git(...args: readonly string[]): Promise<string> {
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
    const { stdout } = await run("git", ["-C", this.#folder, ...who, ...args]);
    return stdout.trim();
  }

  /** Commits files, by their paths; undefined deletes one, and `-> PATH` is a link. @returns the commit */
  async commit(files: Readonly<Record<string, string | undefined>>, message = "a change"): Promise<string> {
    for (const [file, text] of Object.entries(files)) {
      const path = join(this.#folder, file);
      await rm(path, { force: true });
      await mkdir(dirname(path), { recursive: true });
      if (text?.startsWith("-> ") === true) await symlink(text.slice(3), path);
      else if (text !== undefined) await writeFile(path, text);
    }
    await this.git("add", "-A");
    await this.git("commit", "-q", "--allow-empty", "-m", message);
    return this.git("rev-parse", "HEAD");
  }

  async answer(url: string, response: ServerResponse): Promise<void> {
    if (this.instead(url, response)) return;
    const project = /^\/api\/v4\/projects\/shop%2Fmesh\/repository\/(.*)$/.exec(url)?.[1];
    const repository = /^\/repos\/shop\/mesh\/(.*)$/.exec(url)?.[1];
    const branch = /^branches\/([\w/%-]+)$/.exec(project ?? repository ?? "")?.[1];
    if (branch !== undefined) return this.#sendBranch(decodeURIComponent(branch), project !== undefined, response);
    const tarball = /^tarball\/([0-9a-f]{40})$/.exec(repository ?? "")?.[1];
    if (tarball !== undefined) {
      const location = `${this.archiveUrl}/shop/mesh/legacy.tar.gz/${tarball}?token=ABC`;
      response.writeHead(302, { location }).end();
      return;
    }
    const sha = /^archive\.tar\.gz\?sha=([0-9a-f]{40})$/.exec(project ?? "")?.[1];
    if (sha !== undefined) return this.sendArchive(sha, `mesh-${sha}-${sha}`, response);
    json(response, 404, { message: "Not Found" });
  }

  async #sendBranch(name: string, isGitlab: boolean, response: ServerResponse): Promise<void> {
    const sha = await this.git("rev-parse", "--verify", `refs/heads/${name}`).catch(() => undefined);
    if (sha === undefined) return json(response, 404, { message: "Branch not found" });
    const [author = "", message = ""] = (await this.git("log", "-1", "--format=%an%n%B", sha)).split(/\n(.*)/s);
    const [title] = message.split("\n");
    const commit = { author: { name: author, email: "ada@example.com", date: "2026-01-08T00:00:00Z" }, message };
    const github = { name, commit: { sha, node_id: "C_kw", commit, parents: [] }, protected: false };
    const gitlab = { name, merged: false, commit: { id: sha, short_id: sha.slice(0, 8), title, author_name: author } };
    json(response, 200, isGitlab ? gitlab : github);
  }

  async sendArchive(sha: string, folder: string, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "application/gzip" }).end(await this.archiveOf(sha, folder));
  }

  async archiveOf(sha: string, folder: string): Promise<Buffer> {
    const args = ["-C", this.#folder, "archive", "--format=tar.gz", `--prefix=${folder}/`, sha];
    return (await run("git", args, { encoding: "buffer", maxBuffer: 64 * 1024 * 1024 })).stdout;
  }

  private keep(answer: Promise<void>): void {
    this.#answers.add(answer);
    void answer.finally(() => this.#answers.delete(answer));
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
    // Who asked may be gone, and a fetch of a test's last lines goes on.
    await Promise.all(this.#answers);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function listen(server: Server, host: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return `http://${host}:${address.port}`;
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

export interface Pushed {
  readonly ref?: string;
  readonly before?: string;
  readonly repository?: string;
  /** What tells deliveries about one commit apart. */
  readonly delivery?: string;
}

/** A delivery, signed. */
export interface SignedPush {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A push event as GitHub sends it. */
export function githubPush(secret: string, nowMs: number, after: string, pushed: Pushed = {}): SignedPush {
  const { ref = "refs/heads/main", before = none, repository = "shop/mesh", delivery = "" } = pushed;
  const body = JSON.stringify({
    ref,
    before,
    after,
    repository: { id: 1, name: "mesh", full_name: repository, private: true, pushed_at: Math.floor(nowMs / 1000) },
    pusher: { name: "ada", email: "ada@example.com" },
    deleted: after === none,
    compare: delivery,
  });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` }, body };
}

/** A push event as GitLab sends it: signed, where the secret is a signing token. */
export function gitlabPush(secret: string, nowMs: number, after: string, pushed: Pushed = {}): SignedPush {
  const { ref = "refs/heads/main", before = none, repository = "shop/mesh", delivery = after } = pushed;
  const body = JSON.stringify({
    object_kind: ref.startsWith("refs/tags/") ? "tag_push" : "push",
    before,
    after,
    ref,
    checkout_sha: after,
    user_username: "ada",
    project_id: 15,
    project: { id: 15, name: "mesh", path_with_namespace: repository, default_branch: "main" },
  });
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${delivery}.${timestamp}.${body}`).digest("base64");
  const signed = { "webhook-id": delivery, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
  const headers = secret.startsWith("whsec_") ? signed : { "x-gitlab-token": secret, "idempotency-key": delivery };
  return { headers, body };
}
