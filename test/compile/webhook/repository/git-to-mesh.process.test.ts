import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PortolanError } from "../../../../lib/base/diagnostic.ts";
import { readShard } from "../../../../lib/compile/shards/read-shard.ts";
import { createLeasedCompiler } from "../../../../lib/compile/triggers/leased-compiler.ts";
import { webhookFunction } from "../../../../lib/compile/webhook/app.ts";
import { readArchive } from "../../../../lib/compile/webhook/repository/read-archive.ts";
import { readRepositories } from "../../../../lib/compile/webhook/repository/read-repositories.ts";
import { noSecrets } from "../../../../lib/compile/webhook/webhook-secrets.ts";
import { writtenPublications } from "../../../../lib/snapshot/head/lost-head.ts";
import { memoryStore } from "../../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../../lib/storage/object-store.ts";
import { GitHost, githubPush, gitlabPush, type Pushed, type SignedPush } from "./git-host.ts";

const nowMs = Date.UTC(2026, 0, 8);
const hub = "hub";
const lab = `whsec_${Buffer.from("a key of GitLab's").toString("base64")}`;
const token = "ghp_secret";
const service = (name: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\n`;

let host: GitHost;
beforeEach(async () => {
  host = await GitHost.start();
});
afterEach(() => host.close());

interface Setting {
  readonly repository?: object;
  readonly api?: string;
  readonly tokens?: object;
  readonly answerWithinMs?: number;
  readonly store?: ObjectStore;
  /** Whether the sources have repositories; they do when absent. */
  readonly isSet?: boolean;
  /** Whether the platform has to be told what goes on after an answer, as a Worker's; it has when absent. */
  readonly isWorker?: boolean;
}

function compileFunction({
  repository = {},
  api,
  tokens = { main: token },
  answerWithinMs,
  store = memoryStore(() => nowMs),
  isSet = true,
  isWorker = true,
}: Setting = {}) {
  const on = { repository: "shop/mesh", ...repository };
  const settings = {
    main: { host: "github", api: api ?? host.url, ...on },
    lab: { host: "gitlab", api: api ?? `${host.url}/api/v4/`, ...on },
  };
  const failures: unknown[] = [];
  /** What goes on after an answer. */
  const after: Promise<unknown>[] = [];
  const goesOn = (work: Promise<unknown>) => void after.push(work);
  const context = { waitUntil: goesOn, passThroughOnException() {}, props: {} };
  const { app, resume } = webhookFunction({
    store,
    recompile: createLeasedCompiler({ store, sources: ["main", "lab"], pace: { quietMs: 0 } }),
    sources: ["main", "lab", "unbound"],
    secrets: {
      ...noSecrets,
      github: new Map(["main", "unbound"].map((source) => [source, [hub]])),
      gitlab: new Map([["lab", [lab]]]),
    },
    repositories: readRepositories({
      REPOSITORIES: isSet ? JSON.stringify(settings) : "",
      REPOSITORY_TOKENS: JSON.stringify({ ...tokens, lab: "glpat-secret" }),
    }),
    now: () => nowMs,
    onError: (cause) => failures.push(cause),
    ...(answerWithinMs === undefined ? {} : { answer: { withinMs: answerWithinMs, ...(isWorker ? {} : { goesOn }) } }),
  });
  const send = async (path: string, { headers, body }: SignedPush) => {
    const response = await app.request(path, { method: "POST", headers, body }, {}, ...(isWorker ? [context] : []));
    return { status: response.status, ...JSON.parse(await response.text()) };
  };
  return {
    store,
    failures,
    after,
    resume,
    toGithub: (after: string, pushed?: Pushed) => send("/hooks/github/main", githubPush(hub, nowMs, after, pushed)),
    toGitlab: (after: string, pushed?: Pushed) => send("/hooks/gitlab/lab", gitlabPush(lab, nowMs, after, pushed)),
    unbound: (after: string) => send("/hooks/github/unbound", githubPush(hub, nowMs, after)),
    /** File → text, as the source has them. */
    async holds(source = "main") {
      const shard = await readShard(store, source);
      return Object.fromEntries((shard?.files ?? []).map(({ file, text }) => [file, text]));
    },
  };
}

describe("a push to the branch that a source follows", () => {
  it("fills the source from GitHub's archive of the newest commit, and the history says which it was", async () => {
    const { toGithub, holds, store } = compileFunction();
    const sha = await host.commit({ "a.yaml": service("a"), "README.md": "x" }, "Add a\n\nfor a reason");
    expect(await toGithub(sha)).toMatchObject({ status: 200, kind: "published", commit: sha, source: "main" });
    expect(await holds()).toEqual({ "a.yaml": service("a") });
    const [newest] = await writtenPublications(store);
    expect(newest).toMatchObject({
      by: "ada, by a push to shop/mesh",
      why: `commit ${sha} by Ada: Add a`,
    });
    // The token is for the API alone: the archive comes from another host.
    expect(host.asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${token}`));
    expect(host.archiveAsked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it("fills it from GitLab's archive", async () => {
    const { toGitlab, holds } = compileFunction();
    const sha = await host.commit({ "a.yaml": service("a") });
    expect(await toGitlab(sha)).toMatchObject({ status: 200, kind: "published", commit: sha, source: "lab" });
    expect(await holds("lab")).toEqual({ "a.yaml": service("a") });
    expect(host.asked.map(({ headers }) => headers["private-token"])).toEqual(Array(3).fill("glpat-secret"));
  });

  it("takes the folder alone that is set, of the branch that is set", async () => {
    const { toGithub, holds } = compileFunction({ repository: { branch: "release/1", path: "mesh/prod" } });
    await host.git("checkout", "-q", "-b", "release/1");
    const sha = await host.commit({ "mesh/prod/shop/a.yaml": service("a"), "mesh/stage/b.yaml": service("b") });
    expect(await toGithub(sha, { ref: "refs/heads/release/1" })).toMatchObject({ kind: "published" });
    expect(await holds()).toEqual({ "shop/a.yaml": service("a") });
  });

  it("takes out what a commit takes out, and says unchanged for one that changes no configuration", async () => {
    const { toGithub, holds } = compileFunction();
    await toGithub(await host.commit({ "a.yaml": service("a"), "b.yaml": service("b") }));
    expect(await toGithub(await host.commit({ "a.yaml": undefined }))).toMatchObject({ kind: "published" });
    expect(await holds()).toEqual({ "b.yaml": service("b") });
    expect(await toGithub(await host.commit({ "README.md": "x" }))).toMatchObject({ status: 200, kind: "unchanged" });
  });

  it("asks without credentials where no token is set", async () => {
    const { toGithub } = compileFunction({ tokens: {} });
    expect(await toGithub(await host.commit({ "a.yaml": service("a") }))).toMatchObject({ kind: "published" });
    expect(host.asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(undefined));
  });

  it("stores no secret, follows no link, and says so", async () => {
    const { toGithub, holds } = compileFunction();
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n";
    const sha = await host.commit({ "a.yaml": service("a"), "s.yaml": secret, "l.yaml": "-> /etc/passwd" });
    const answer = await toGithub(sha);
    expect(answer).toMatchObject({ status: 200, kind: "published" });
    expect(JSON.stringify(answer.diagnostics)).toContain("it is a link, which is not followed in a repository");
    expect(JSON.stringify(await holds())).not.toMatch(/hunter2|root:/);
  });

  it("refuses a commit whose refused policy would close something, and leaves the source as it was", async () => {
    const { toGithub, holds } = compileFunction();
    await toGithub(await host.commit({ "a.yaml": service("a") }));
    const policy = `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {action: DENY, rules: [{from: [{source: {ipBlocks: ["x"]}}]}]}\n`;
    const sha = await host.commit({ "p.yaml": policy });
    const refused = await toGithub(sha);
    expect(refused).toMatchObject({ status: 422, detail: expect.stringContaining("would close") });
    expect(JSON.stringify(refused.diagnostics)).toContain("p.yaml");
    expect(Object.keys(await holds())).toEqual(["a.yaml"]);
    // Failed deliveries may be made again.
    expect(await toGithub(sha)).toMatchObject({ status: 422 });
  });

  it("leaves the source as it was where the folder that is set holds nothing", async () => {
    const { toGithub, holds } = compileFunction({ repository: { path: "mesh" } });
    const sha = await host.commit({ "mesh/a.yaml": service("a") });
    await toGithub(sha);
    const empty = await host.commit({ "mesh/a.yaml": undefined, "msh/a.yaml": service("a") });
    const refused = await toGithub(empty);
    expect(refused).toMatchObject({
      status: 422,
      detail: expect.stringContaining("folder mesh of shop/mesh at commit"),
    });
    expect(Object.keys(await holds())).toEqual(["a.yaml"]);
  });
});

describe("deliveries that come in another order than pushes", () => {
  it("leave the newest commit in the source", async () => {
    const { toGithub, holds } = compileFunction();
    const first = await host.commit({ "a.yaml": service("a1") });
    const second = await host.commit({ "a.yaml": service("a2") });
    expect(await toGithub(second, { before: first })).toMatchObject({ kind: "published", commit: second });
    expect(await toGithub(first)).toMatchObject({ kind: "unchanged", commit: second });
    expect(await holds()).toEqual({ "a.yaml": service("a2") });
  });

  it("write nothing of a commit that was overtaken while it was fetched", async () => {
    const { toGithub, holds, store } = compileFunction();
    const another = compileFunction({ store });
    const first = await host.commit({ "a.yaml": service("a1") });
    const second = await host.commit({ "a.yaml": service("a2") });
    await host.git("branch", "newer", second);
    await host.git("reset", "-q", "--hard", first);
    // The archive of the first commit is asked for; then the branch moves, and another process carries out the delivery of the second.
    let inner: Promise<unknown> | undefined;
    host.instead = (url, response) => {
      if (inner !== undefined || !url.includes(first) || !url.includes("legacy")) return false;
      inner = host
        .git("reset", "-q", "--hard", second)
        .then(() => another.toGithub(second, { before: first }))
        .finally(() => host.sendArchive(first, `shop-mesh-${first.slice(0, 7)}`, response));
      return true;
    };
    expect(await toGithub(first)).toMatchObject({ status: 200, commit: second });
    expect(await inner).toMatchObject({ kind: "published", commit: second });
    expect(await holds()).toEqual({ "a.yaml": service("a2") });
  });

  it("are refused for now while the host still shows the commit before the push, and done when they come again", async () => {
    const { toGithub } = compileFunction();
    const before = await host.commit({ "a.yaml": service("a1") });
    const after = await host.commit({ "a.yaml": service("a2") });
    await host.git("reset", "-q", "--hard", before);
    expect(await toGithub(after, { before })).toMatchObject({
      status: 503,
      detail: expect.stringContaining("still at"),
    });
    await host.git("reset", "-q", "--hard", after);
    expect(await toGithub(after, { before })).toMatchObject({ status: 200, commit: after });
  });
});

describe("what is told of that a source does not follow", () => {
  it.each([
    ["another branch", { ref: "refs/heads/feature" }, "branch feature is not followed: the source follows main"],
    ["a tag", { ref: "refs/tags/v1" }, "refs/tags/v1 is no branch"],
    ["another repository", { repository: "shop/other" }, "repository shop/other is not followed"],
  ])("is ignored, with the reason: %s", async (_what, pushed, reason) => {
    const { toGithub, toGitlab } = compileFunction();
    const sha = await host.commit({ "a.yaml": service("a") });
    expect(await toGithub(sha, pushed)).toMatchObject({
      status: 200,
      kind: "ignored",
      reason: expect.stringContaining(reason),
    });
    const gitlab = await toGitlab(sha, pushed);
    expect(gitlab).toMatchObject({ status: 200, kind: "ignored" });
    expect(host.asked).toEqual([]);
  });

  it("is a branch that was deleted: the source keeps what it holds", async () => {
    const { toGithub, toGitlab } = compileFunction();
    for (const answer of [await toGithub("0".repeat(40)), await toGitlab("0".repeat(40))])
      expect(answer).toMatchObject({ kind: "ignored", reason: expect.stringContaining("was deleted") });
  });

  it("is everything for a source without a repository, which is compiled, and told that nothing was fetched", async () => {
    const { toGithub, unbound } = compileFunction();
    const sha = await host.commit({ "a.yaml": service("a") });
    await toGithub(sha);
    expect(await unbound(sha)).toMatchObject({
      status: 200,
      kind: "unchanged",
      note: expect.stringContaining("nothing was fetched"),
    });
  });
});

describe("a host that does not give what it is asked for", () => {
  const fails = async (setting: Setting = {}) => {
    const made = compileFunction(setting);
    const sha = await host.commit({ "a.yaml": service("a") });
    const answer = await made.toGithub(sha);
    expect(await readShard(made.store, "main")).toBeUndefined();
    expect(JSON.stringify([answer, made.failures.map(String)])).not.toContain(token);
    return { answer, sha, ...made };
  };
  const answering = (status: number, headers: Readonly<Record<string, string>> = {}, body: string | Buffer = "") => {
    host.instead = (_url, response) => {
      response.writeHead(status, headers).end(body);
      return true;
    };
  };

  it.each([
    [401, "the token is not valid"],
    [403, "the token may not read it"],
    [404, "no branch main"],
    [500, "deliver the push again"],
  ])("is named with what to do: %i", async (status, told) => {
    answering(status);
    const { answer } = await fails();
    expect(answer).toMatchObject({ status: 502, detail: expect.stringContaining(told) });
  });

  it("is asked when a delivery of before its source had a repository is sent again", async () => {
    const sha = await host.commit({ "a.yaml": service("a") });
    const { store, toGithub } = compileFunction({ isSet: false });
    expect(await toGithub(sha)).toMatchObject({ status: 503, detail: "no source was filled yet" });
    const set = compileFunction({ store });
    await set.toGitlab(await host.commit({}));
    expect(await toGithub(sha)).toMatchObject({ status: 200, note: expect.stringContaining("nothing was fetched") });
    expect(await set.toGithub(sha)).toMatchObject({ status: 200, kind: "published" });
  });

  it("can be asked again for the same delivery", async () => {
    answering(500);
    const { sha, toGithub } = await fails();
    host.instead = () => false;
    expect(await toGithub(sha)).toMatchObject({ status: 200, kind: "published" });
    expect(await toGithub(sha)).toMatchObject({ status: 409 });
  });

  it("is told of when nothing answers there", async () => {
    expect((await fails({ api: "http://127.0.0.1:1" })).answer).toMatchObject({
      status: 502,
      detail: expect.stringContaining("127.0.0.1:1 cannot be reached"),
    });
  });

  it.each([
    ["no JSON", "<html>"],
    ["no commit", "{}"],
    ["a commit that is none", JSON.stringify({ commit: { sha: "../../etc" } })],
    ["more than a branch is", `{"commit": {"sha": "${"a".repeat(2 * 1024 * 1024)}"}}`],
  ])("is not believed when it answers %s", async (_what, body) => {
    answering(200, {}, body);
    expect((await fails()).answer).toMatchObject({ status: 502, detail: expect.stringContaining("which commit") });
  });

  it.each([
    ["over plain HTTP to another machine", "http://archives.example.com/x", "https:// addresses are"],
    ["to another scheme", "file:///etc/passwd", "https:// addresses are"],
    ["with credentials in the address", "https://a:b@archives.example.com/", "https:// addresses are"],
    ["to nowhere", "http://[", "an address that is none"],
  ])("is not followed %s", async (_what, location, told) => {
    answering(302, { location });
    expect((await fails()).answer).toMatchObject({ status: 502, detail: expect.stringContaining(told) });
  });

  it("is not followed round in a circle", async () => {
    answering(302, { location: "/again" });
    expect((await fails()).answer).toMatchObject({ status: 502, detail: expect.stringContaining("more than 5 times") });
    expect(host.asked.length).toBe(6);
  });

  it.each([
    ["is cut off", (whole: Buffer) => whole.subarray(0, whole.length - 30)],
    ["is none", () => Buffer.from("<html>Sign in</html>")],
  ])("changes nothing by an archive that %s", async (_what, damage) => {
    host.instead = (url, response) => {
      const sha = /legacy\.tar\.gz\/(\w+)/.exec(url)?.[1];
      if (sha === undefined) return false;
      void host.archiveOf(sha, "shop-mesh").then((whole) => response.writeHead(200).end(damage(whole)));
      return true;
    };
    expect((await fails()).answer).toMatchObject({
      status: 502,
      detail: expect.stringContaining("damaged or cut off"),
    });
  });

  it("changes nothing by the archive of another commit", async () => {
    const other = await host.commit({ "b.yaml": service("b") });
    host.instead = (url, response) => {
      if (!url.includes("legacy")) return false;
      void host.sendArchive(other, "shop-mesh-abcdef0", response);
      return true;
    };
    expect((await fails()).answer).toMatchObject({ status: 502, detail: expect.stringContaining("another commit") });
  });
});

describe("a host that takes long", () => {
  it.each([
    ["a Worker", true],
    ["a process", false],
  ])(
    "has the delivery answered within the time that a webhook waits, and the source filled all the same, in %s",
    async (_what, isWorker) => {
      const { toGithub, holds, failures, after } = compileFunction({ answerWithinMs: 1, isWorker });
      const held = Promise.withResolvers<void>();
      const sha = await host.commit({ "a.yaml": service("a") });
      host.instead = (url, response) => {
        if (!url.includes("legacy")) return false;
        void held.promise.then(() => host.sendArchive(sha, "shop-mesh-1", response));
        return true;
      };
      expect(await toGithub(sha)).toMatchObject({
        status: 202,
        kind: "accepted",
        reason: expect.stringContaining("log"),
      });
      held.resolve();
      await Promise.all(after);
      expect(await holds()).toEqual({ "a.yaml": service("a") });
      expect([after.length, failures]).toEqual([1, []]);
      expect(await toGithub(sha)).toMatchObject({ status: 409 });
    },
  );

  it("has what goes wrong after that answer in the log", async () => {
    const { toGithub, failures, after } = compileFunction({ answerWithinMs: 1 });
    const held = Promise.withResolvers<void>();
    host.instead = (_url, response) => {
      void held.promise.then(() => response.writeHead(500).end());
      return true;
    };
    expect(await toGithub(await host.commit({ "a.yaml": service("a") }))).toMatchObject({ status: 202 });
    held.resolve();
    await Promise.all(after);
    expect(failures.map(String)).toEqual([expect.stringContaining("answers 500 for shop/mesh")]);
  });
});

describe("a host that does not answer", () => {
  it("holds up its own source alone, of which one more delivery waits for all later ones", async () => {
    const { toGithub, toGitlab, holds } = compileFunction();
    const sha = await host.commit({ "a.yaml": service("a") });
    const hung = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    host.instead = (url, response) => {
      if (url.startsWith("/api/v4/") || host.asked.filter((one) => one.url.startsWith("/repos/")).length > 1)
        return false;
      asked.resolve();
      void hung.promise.then(() => response.writeHead(500).end());
      return true;
    };
    const underWay = toGithub(sha, { delivery: "0" });
    await asked.promise;
    const deliveries = ["1", "2", "3", "4"];
    const later = deliveries.map((delivery) => toGithub(sha, { delivery }).then((answer) => ({ ...answer, delivery })));
    const accepted: string[] = [];
    const fetched: string[] = [];
    const threeAccepted = Promise.withResolvers<void>();
    for (const one of later)
      void one.then(({ kind, status, reason, delivery }) => {
        if (kind !== "accepted") return void fetched.push(delivery);
        expect([status, reason]).toEqual([202, expect.stringContaining("waits to be fetched")]);
        if (accepted.push(delivery) === 3) threeAccepted.resolve();
      });
    await threeAccepted.promise;
    expect(fetched).toEqual([]);
    expect(await toGitlab(sha)).toMatchObject({ status: 200, kind: "published", commit: sha });
    hung.resolve();
    expect(await underWay).toMatchObject({ status: 502 });
    await Promise.all(later);
    expect([fetched.length, await holds()]).toEqual([1, { "a.yaml": service("a") }]);
    // One that was accepted so is not used up; the one that was carried out is.
    const [again] = accepted;
    const [carriedOut] = fetched;
    expect(await toGithub(sha, { delivery: again ?? "" })).toMatchObject({ status: 200, kind: "unchanged" });
    expect(await toGithub(sha, { delivery: carriedOut ?? "" })).toMatchObject({ status: 409 });
  });
});

describe("archives that tar makes", () => {
  it.each(["gnu", "pax", "ustar"])("are read in the format %s, with long names and links", async (format) => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-tar-"));
    try {
      const deep = `${"long-name/".repeat(14)}a.yaml`;
      await mkdir(join(folder, "top", deep, ".."), { recursive: true });
      await writeFile(join(folder, "top", deep), service("deep"));
      await symlink("/etc/passwd", join(folder, "top/link.yaml"));
      await promisify(execFile)("tar", [`--format=${format}`, "-czf", "all.tar.gz", "top"], { cwd: folder });
      const bytes = new Uint8Array(await readFile(join(folder, "all.tar.gz")));
      const body = new Response(bytes).body;
      if (body === null) throw new Error("a response with bytes has a body");
      const { files } = await readArchive(body, "a".repeat(40), { path: "" });
      expect(files.map(({ file, text, problem }) => [file, text, problem === undefined])).toEqual([
        ["link.yaml", "", false],
        [deep, service("deep"), true],
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("a delivery that is answered with 202", () => {
  /** A store that keeps no promise while `isFull`. */
  const fillingUp = () => {
    const store = memoryStore(() => nowMs);
    const state = { isFull: true };
    const put: ObjectStore["put"] = async (key, bytes, condition) => {
      if (state.isFull && key === "compile/promised-fetches") throw new PortolanError("the disk is full");
      return store.put(key, bytes, condition);
    };
    return { store: { ...store, put }, state };
  };
  const hang = () => {
    const held = Promise.withResolvers<void>();
    host.instead = (url, response) => {
      if (!url.includes("legacy")) return false;
      void held.promise.then(() => response.writeHead(500).end());
      return true;
    };
    return held.resolve;
  };

  it("is answered with 503 where the store does not keep it", async () => {
    const { store, state } = fillingUp();
    const { toGithub, after, holds } = compileFunction({ store, answerWithinMs: 1 });
    const release = hang();
    const sha = await host.commit({ "a.yaml": service("a") });
    const notKept = { status: 503, detail: expect.stringContaining("the disk is full") };
    expect(await toGithub(sha)).toMatchObject(notKept);
    const joined = [await toGithub(sha, { delivery: "1" }), await toGithub(sha, { delivery: "2" })];
    expect(joined).toEqual([expect.objectContaining(notKept), expect.objectContaining(notKept)]);
    state.isFull = false;
    expect(await toGithub(sha, { delivery: "3" })).toMatchObject({ status: 202 });
    release();
    await Promise.all(after);
    expect(await holds()).toEqual({});
  });

  it("is carried out by the schedule where its fetch has failed, and is settled then", async () => {
    const { toGithub, after, resume, holds, failures } = compileFunction({ answerWithinMs: 1 });
    const release = hang();
    const sha = await host.commit({ "a.yaml": service("a") });
    expect(await toGithub(sha)).toMatchObject({ status: 202 });
    release();
    await Promise.all(after);
    expect([await holds(), failures.length]).toEqual([{}, 1]);
    host.instead = () => false;
    expect(await resume()).toBe(0);
    expect(await holds()).toEqual({ "a.yaml": service("a") });
    const asked = host.asked.length;
    expect(await resume()).toBe(0);
    expect([host.asked.length, failures.length]).toEqual([asked, 1]);
    expect(await toGithub(sha)).toMatchObject({ status: 409 });
  });

  it("is left alone while a process is at work on it, and given up after three attempts", async () => {
    const { toGithub, after, resume, failures } = compileFunction({ answerWithinMs: 1 });
    const release = hang();
    expect(await toGithub(await host.commit({ "a.yaml": service("a") }))).toMatchObject({ status: 202 });
    expect(await resume()).toBe(1);
    release();
    await Promise.all(after);
    for (let attempt = 1; attempt <= 5; attempt += 1) await resume();
    const told = failures.map(String);
    expect(told.slice(0, 4)).toEqual(Array(4).fill(expect.stringContaining("answers 500")));
    expect(told.slice(4)).toEqual([expect.stringContaining("push again, or deliver the push again")]);
  });

  it("is settled by a refusal of what the commit holds, and forgotten where its source has no repository any more", async () => {
    const { toGithub, after, resume, store } = compileFunction({ answerWithinMs: 1 });
    const release = Promise.withResolvers<void>();
    const sha = await host.commit({ "README.md": "no configuration" });
    host.instead = (url, response) => {
      if (!url.includes("legacy")) return false;
      void release.promise.then(() => host.sendArchive(sha, "shop-mesh-1", response));
      return true;
    };
    expect(await toGithub(sha)).toMatchObject({ status: 202 });
    const without = compileFunction({ store, isSet: false });
    const promised = async () => {
      const found = await store.get("compile/promised-fetches");
      return found.kind === "found" && JSON.parse(new TextDecoder().decode(found.bytes)).fetches.length;
    };
    expect(await promised()).toBe(1);
    release.resolve();
    await Promise.all(after);
    await resume();
    expect(await promised()).toBe(0);
    expect(await toGithub(await host.commit({}), { delivery: "2" })).toMatchObject({ status: 202 });
    await without.resume();
    expect(await promised()).toBe(0);
    await Promise.all(after);
  });
});
