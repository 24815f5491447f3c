import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
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

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly name: string;
  readonly shell: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** What GitHub keeps, as far as the action asks for it; it answers what it was told to. */
const github = { comments: [{ id: 1, user: { type: "User" }, body: "hello" }], status: 0, tokens: new Set<string>() };
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    github.tokens.add(request.headers.authorization ?? "");
    const { method, url = "" } = request;
    const answer = (status: number, value: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (github.status !== 0) return answer(github.status, { message: "Resource not accessible by integration" });
    if (method === "GET" && url.startsWith("/repos/shop/mesh/issues/7/comments?")) return answer(200, github.comments);
    const { body }: { readonly body: string } = JSON.parse(Buffer.concat(chunks).toString());
    const id = Number(/^\/repos\/shop\/mesh\/issues\/comments\/(\d+)$/.exec(url)?.[1]);
    if (method === "POST" && url === "/repos/shop/mesh/issues/7/comments") {
      github.comments.push({ id: github.comments.length + 1, user: { type: "Bot" }, body });
      return answer(201, {});
    }
    const found = github.comments.find((one) => one.id === id);
    if (method !== "PATCH" || found === undefined) return answer(404, {});
    found.body = body;
    return answer(200, {});
  });
});

let folder = "";
let api = "";
let action: Action;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-review-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  api = `http://127.0.0.1:${address.port}`;
  action = load(await readFile(join(root, "action.yml"), "utf8")) as Action; // its form is what the tests below are about
  await cp(join(root, "samples/bookshop"), join(folder, "mesh"), { recursive: true });
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("commit", "-q", "-m", "shop");
  await git("checkout", "-q", "-b", "change");
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const git = (...args: readonly string[]) =>
  run("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", ...args]);

const edit = async (file: string, change: (text: string) => string) =>
  writeFile(join(folder, "mesh", file), change(await readFile(join(folder, "mesh", file), "utf8")));

/** Runs the steps as GitHub would: expressions are put in, a step's outputs are there for the next, a failed one is the last. */
async function act(inputs: Readonly<Record<string, string>> = {}, event = "pull_request") {
  const github_output = join(folder, "output");
  const summary = join(folder, "summary");
  for (const file of [github_output, summary]) await writeFile(file, "");
  const outputs = new Map<string, string>();
  const values = (name: string): string => {
    if (name === "github.event.pull_request.base.sha") return "main";
    if (name === "github.event.pull_request.number") return "7";
    if (name === "github.token") return "the-token";
    if (name === "github.event_name") return event;
    const output = /^steps\.(?:choice|diff)\.outputs\.(\w+)$/.exec(name)?.[1];
    if (output !== undefined) return outputs.get(output) ?? "";
    const input = /^inputs\.([\w-]+)$/.exec(name)?.[1];
    if (input === undefined) throw new Error(`what is ${name}?`);
    return inputs[input] ?? evaluated(action.inputs[input]?.default ?? "");
  };
  const evaluated = (text: string): string => text.replaceAll(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, name) => values(name));
  const ran: { readonly name: string; readonly code: number; readonly out: string }[] = [];
  for (const step of action.runs.steps) {
    const [, left = "", right] = /^([\w.-]+) == '(\w+)'$/.exec(step.if ?? "") ?? [];
    if (step.if !== undefined && values(left) !== right) continue;
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([key, text]) => [key, evaluated(text)]));
    const { code, out } = await run(step.shell, ["-e", "-o", "pipefail", "-c", step.run], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        GITHUB_ACTION_PATH: root,
        GITHUB_API_URL: api,
        GITHUB_REPOSITORY: "shop/mesh",
        GITHUB_OUTPUT: github_output,
        GITHUB_ACTOR: "ada",
        GITHUB_STEP_SUMMARY: summary,
        RUNNER_TEMP: folder,
        ...env,
      },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
      ({ code: failed, stdout, stderr }) => ({ code: Number(failed), out: String(stdout) + String(stderr) }),
    );
    for (const line of (await readFile(github_output, "utf8")).split("\n")) {
      const [key = "", value = ""] = line.split("=");
      outputs.set(key, value);
    }
    ran.push({ name: step.name, code, out });
    if (code !== 0) break;
  }
  return { ran, summary: await readFile(summary, "utf8") };
}

const lastStep = (ran: Awaited<ReturnType<typeof act>>["ran"]) => ran.at(-1);

describe("the action", () => {
  it("puts no expression into a script, where a branch's name could run commands", () => {
    expect(action.runs.using).toBe("composite");
    expect(action.runs.steps.filter((step) => step.run.includes("${{"))).toEqual([]);
  });

  it("comments which proxies a change reaches, and by which file and line", async () => {
    await edit("catalog.yaml", (text) => text.replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50"));
    const { ran, summary } = await act({ dir: "mesh" });
    const steps = action.runs.steps.filter(({ name }) => name !== "Push");
    expect(ran.map(({ name, code }) => [name, code])).toEqual(steps.map(({ name }) => [name, 0]));
    const [, comment] = github.comments;
    expect(github.comments).toHaveLength(2);
    expect(comment?.body).toContain("- `istio-ingressgateway-1.bookshop` (class `");
    expect(comment?.body).toContain("~ routes http.10080");
    expect(comment?.body).toContain("weight: 90 → 50");
    expect(comment?.body).toMatch(/VirtualService\/bookshop\/catalog \(catalog\.yaml:\d+\)/);
    expect(comment?.body).toContain(summary.trim());
    expect([...github.tokens]).toEqual(["Bearer the-token"]);
  }, 300_000);

  it("renews its comment, and fails for what is refused after it has said so", async () => {
    await edit("catalog.yaml", (text) => text.replace("prefix: /catalog", "prefix: 7"));
    const { ran } = await act({ dir: "mesh" });
    expect(lastStep(ran)).toMatchObject({
      name: "Refused objects",
      code: 1,
      out: expect.stringContaining("::error::"),
    });
    expect(github.comments).toHaveLength(2);
    expect(github.comments[1]?.body).toMatch(/\*\*1 refused\*\*[\s\S]*`mesh\/catalog\.yaml:\d+`/);
    const lenient = await act({ dir: "mesh", "fail-on-refused": "false" });
    expect(lastStep(lenient.ran)).toMatchObject({ name: "Comment", code: 0 });
  }, 300_000);

  it("lets nothing that a file says out of the comparison's block", async () => {
    await edit("catalog.yaml", (text) => text.replace("prefix: 7", 'prefix: "/`x`\\n```\\n@everyone"'));
    const { summary } = await act({ dir: "mesh", comment: "false", "fail-on-refused": "false" });
    expect(summary).toContain("everyone");
    expect(summary).not.toMatch(/^@everyone/m);
    expect(summary.match(/^```/gm)).toHaveLength(2);
  }, 300_000);

  it("lets no name of an object or a file reach the log as a command, and takes no base for an option", async () => {
    const evil = join(folder, "mesh", "name\n::error::by-file.yaml");
    await writeFile(
      evil,
      [
        "apiVersion: networking.istio.io/v1",
        "kind: VirtualService",
        'metadata: {name: "a`b\\n```\\n::add-mask::x\\n##[add-mask]y", namespace: shop}',
        'spec: {hosts: ["```"], "field\\n::warning::x\\n```": 1}',
      ].join("\n"),
    );
    const { ran, summary } = await act({ dir: "mesh", comment: "false", "fail-on-refused": "false" });
    await rm(evil);
    const compared = ran.find(({ name }) => name === "Compare");
    const commands = compared?.out.split("\n").filter((line) => line.trimStart().startsWith("::")) ?? [];
    const [, token = ""] = /^::stop-commands::([\w-]{36})$/.exec(commands[0] ?? "") ?? [];
    expect(commands).toEqual([`::stop-commands::${token}`, `::${token}::`]);
    expect(compared?.out).not.toContain("##[add-mask]");
    expect(summary).toContain("by-file.yaml");
    expect(summary.split("\n").filter((line) => line.startsWith("::"))).toEqual([]);
    const option = await act({ dir: "mesh", base: `--upload-pack=touch ${join(folder, "pwned")}` });
    expect(lastStep(option.ran)?.code).not.toBe(0);
    await expect(readFile(join(folder, "pwned"))).rejects.toThrow("ENOENT");
  }, 300_000);

  it("warns where a fork's token may not comment, and fails where there is no base", async () => {
    github.status = 403;
    const { ran } = await act({ dir: "mesh", "fail-on-refused": "false" });
    expect(lastStep(ran)).toMatchObject({ name: "Comment", code: 0, out: expect.stringContaining("::warning::") });
    const nowhere = await act({ dir: "mesh", base: "0".repeat(40) });
    expect(lastStep(nowhere.ran)).toMatchObject({ name: "Bring the base" });
    expect(lastStep(nowhere.ran)?.code).not.toBe(0);
    // Another event than a pull request, and a workflow that checks nothing out.
    expect(lastStep((await act({ dir: "mesh", base: "" })).ran)?.out).toContain("::error::There is no base");
    expect(lastStep((await act({ dir: "msh" })).ran)?.out).toContain("::error::There is no folder msh");
  }, 300_000);

  describe("when a branch moves", () => {
    const store = memoryStore();
    const secrets = { ...noSecrets, sources: new Map([["main", ["for-main"]]]) };
    const recompile = createLeasedCompiler({ store, sources: ["main"] });
    let compile: Awaited<ReturnType<typeof serveHttp>>;
    beforeAll(async () => {
      compile = await serveHttp(webhookApp({ store, recompile, sources: ["main"], secrets }), 0);
      github.status = 0;
      await git("checkout", "-q", "-f", "main");
    });
    afterAll(() => compile.close());
    const push = (more: Readonly<Record<string, string>> = {}, event = "push") =>
      act({ dir: "mesh", server: compile.url, secret: "for-main", ...more }, event);

    it("pushes the folder to the compile function, with the commit as the reason, and compares nothing", async () => {
      const { ran, summary } = await push();
      expect(ran.map(({ name, code }) => [name, code])).toEqual([
        ["Install Portolan", 0],
        ["Choose what to do", 0],
        ["Push", 0],
        ["Refused objects", 0],
      ]);
      expect(summary).toContain("Source main: published: generation 1");
      const [newest] = await writtenPublications(store);
      const { stdout: sha } = await git("rev-parse", "main");
      expect(newest).toMatchObject({ why: `commit ${sha.trim()} by t: shop`, by: expect.stringMatching(/^ada, /) });
      expect((await push({}, "workflow_dispatch")).summary).toContain("unchanged");
    }, 300_000);

    it.each(["pull_request", "pull_request_target"])(
      "never pushes what a %s brings",
      async (event) => {
        const { ran } = await push({ comment: "false" }, event);
        expect(ran.map(({ name }) => name)).toContain("Compare");
        expect(ran.map(({ name }) => name)).not.toContain("Push");
      },
      300_000,
    );

    it("fails without a secret, with a wrong one, and for a refused object once it has said so", async () => {
      expect(lastStep((await push({ secret: "" })).ran)?.out).toContain("::error::There is no secret");
      const wrong = lastStep((await push({ secret: "another" })).ran);
      expect(wrong).toMatchObject({ name: "Push", code: 1, out: expect.stringContaining("answers 401") });
      await edit("catalog.yaml", (text) => text.replace("prefix: /catalog", "prefix: 7"));
      const refused = await push();
      expect(lastStep(refused.ran)).toMatchObject({
        name: "Push",
        code: 1,
        out: expect.stringContaining("catalog.yaml:"),
      });
      expect(lastStep((await push({ "fail-on-refused": "false" })).ran)).toMatchObject({ code: 0 });
    }, 300_000);
  });
});
