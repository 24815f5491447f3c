import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { writtenPublications } from "../../lib/snapshot/head/lost-head.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { program } from "../programs.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

interface Job {
  readonly extends?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly rules?: readonly { readonly if: string }[];
  readonly script?: readonly string[];
}
interface Inputs {
  readonly spec: {
    readonly inputs: Readonly<Record<string, { readonly default?: string; readonly description: string }>>;
  };
}

const store = memoryStore();
const secrets = { ...noSecrets, sources: new Map([["shop", ["for-shop"]]]) };
const recompile = createLeasedCompiler({ store, sources: ["shop"] });
let compile: Awaited<ReturnType<typeof serveHttp>>;
let folder = "";
let template = "";

const git = async (...args: readonly string[]) => {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  return (await run("git", ["-C", folder, ...who, ...args])).stdout.trim();
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-gitlab-"));
  compile = await serveHttp(webhookApp({ store, recompile, sources: ["shop"], secrets }), 0);
  template = await readFile(join(root, "infra/gitlab/portolan.gitlab-ci.yml"), "utf8");
  await cp(join(root, "samples/bookshop"), join(folder, "mesh prod"), { recursive: true });
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("commit", "-q", "-m", "shop");
  // The package as it would be installed.
  const cli = await program("cli");
  await mkdir(join(folder, "bin"));
  const npx = `#!/bin/sh\n[ "$1 $2" = "--yes portolan@0.2.0" ] || exit 9\nshift 2\nexec "${process.execPath}" "${cli}" "$@"\n`;
  await writeFile(join(folder, "bin/npx"), npx);
  await chmod(join(folder, "bin/npx"), 0o755);
});
afterAll(async () => {
  await compile.close();
  await rm(folder, { recursive: true, force: true });
});

/** The template's jobs, with inputs put in as GitLab does. */
function jobs(inputs: Readonly<Record<string, string>>): Readonly<Record<string, Job>> {
  const [head = "", body = ""] = template.split("\n---\n");
  const { spec } = load(head) as Inputs; // its form is what this test is about
  const filled = body.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
    const value = inputs[name] ?? spec.inputs[name]?.default;
    if (value === undefined) throw new Error(`nobody says ${name}`);
    return value;
  });
  return load(filled) as Readonly<Record<string, Job>>; // the same
}

/** Runs a job as a runner does: variables of the template and the job, lines of the script in one shell. */
async function runJob(name: string, predefined: Readonly<Record<string, string>>) {
  const all = jobs({ server: compile.url, source: "shop", folder: "mesh prod" });
  const job = all[name] ?? {};
  const variables = { ...all[job.extends ?? ""]?.variables, ...job.variables };
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder, ...variables, ...predefined };
  return run("sh", ["-e", "-c", (job.script ?? []).join("\n")], { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
    (cause: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code: cause.code,
      out: cause.stdout + cause.stderr,
    }),
  );
}

describe("the template for GitLab", () => {
  it("runs one job on the default branch and the other on merge requests", () => {
    const { "portolan-push": push, "portolan-diff": diff } = jobs({ server: "https://compile.example.com" });
    expect(push?.rules?.map((rule) => rule.if)).toEqual([
      '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH',
    ]);
    expect(diff?.rules?.map((rule) => rule.if)).toEqual(['$CI_PIPELINE_SOURCE == "merge_request_event"']);
  });

  it("pushes the folder, with the commit as the reason, whatever its title holds", async () => {
    const commit = {
      CI_COMMIT_SHA: await git("rev-parse", "HEAD"),
      CI_COMMIT_AUTHOR: "Ada <ada@example.com>",
      CI_COMMIT_TITLE: 'Use "v2" $(touch pwned) %s',
      GITLAB_USER_LOGIN: "ada",
    };
    expect(await runJob("portolan-push", { ...commit, PORTOLAN_WEBHOOK_SECRET: "another" })).toMatchObject({
      code: 1,
      out: expect.stringContaining("answers 401"),
    });
    const pushed = await runJob("portolan-push", { ...commit, PORTOLAN_WEBHOOK_SECRET: "for-shop" });
    expect(pushed).toMatchObject({ code: 0, out: expect.stringContaining("published: generation 1") });
    const [newest] = await writtenPublications(store);
    expect(newest).toMatchObject({
      why: `commit ${commit.CI_COMMIT_SHA} by Ada <ada@example.com> - ${commit.CI_COMMIT_TITLE}`,
      by: expect.stringMatching(/^ada, /),
    });
    await expect(readFile(join(folder, "pwned"))).rejects.toThrow("ENOENT");
  }, 120_000);

  it("compares on a merge request, and keeps what it says", async () => {
    const base = await git("rev-parse", "HEAD");
    const file = join(folder, "mesh prod/catalog.yaml");
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("weight: 90", "weight: 80").replace("weight: 10", "weight: 20"),
    );
    expect(await runJob("portolan-diff", { CI_MERGE_REQUEST_DIFF_BASE_SHA: base })).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, "portolan-diff.md"), "utf8")).toContain("weight: 90 → 80");
  }, 120_000);
});
