import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { proxiesOf } from "../../../lib/cli/proxy/bootstrap.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { eventually } from "../../e2e/envoy.ts";
import { freePort } from "../../free-port.ts";
import { program } from "../../programs.ts";

const cli = await program("cli");
const root = resolve(import.meta.dirname, "../../..");
const sample = join(root, "samples/bookshop");
/** A machine that builds beside this takes its time. */
const patienceMs = 90_000;

let scratch: string;
let port: number;
const running = new Set<Serving>();

interface Serving {
  readonly child: ChildProcess;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** The first line with a message that satisfies. */
  line(message: string, nth?: number): Promise<Readonly<Record<string, unknown>>>;
}

function serve(settings: string, env: NodeJS.ProcessEnv = {}, ...args: readonly string[]): Serving {
  const file = join(scratch, "settings.yaml");
  writeFileSync(file, settings);
  const child = spawn(process.execPath, [cli, "serve", "--settings", file, ...args], {
    cwd: scratch,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: Readonly<Record<string, unknown>>[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => lines.push(line.startsWith("{") ? JSON.parse(line) : { msg: line }));
  const serving: Serving = {
    child,
    lines,
    async line(message, nth = 0) {
      const found = () => lines.filter(({ msg }) => String(msg).includes(message))[nth];
      await eventually(
        async () => found(),
        (line) => line !== undefined,
        patienceMs,
      );
      return found() ?? {};
    },
  };
  running.add(serving);
  return serving;
}

const url = () => `http://127.0.0.1:${port}`;
const answers = () =>
  fetch(`${url()}/healthz`).then(
    ({ status }) => status,
    () => 0,
  );
const untilServing = () => eventually(answers, (status) => status === 200, patienceMs);

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), "portolan-serve-"));
  cpSync(sample, join(scratch, "mesh"), { recursive: true });
  port = await freePort();
});

afterEach(async () => {
  for (const { child } of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  running.clear();
  await eventually(answers, (status) => status === 0, 20_000);
  rmSync(scratch, { recursive: true, force: true });
});

const whole = () => `
store: store
front: {port: ${port}}
compile: {everySeconds: 3600, workers: 2}
collectors: [{kind: dir, folder: mesh}]
health: {port: 0}
`;

describe("portolan serve", { timeout: 240_000 }, () => {
  it("collects, compiles and serves, follows an edit, and lets a held poll go with an answer when it is told to end", async () => {
    const serving = serve(whole());
    await untilServing();
    const { url: health } = await serving.line("health endpoint");
    expect(await (await fetch(`${health}/readyz`)).json()).toMatchObject({
      isReady: true,
      sources: [{ source: "main" }],
    });
    expect(await (await fetch(`${health}/metrics`)).text()).toContain("portolan_compile");

    const [proxy] = proxiesOf(readFiles(await readFolder(sample))).value;
    const poll = (version: string) =>
      fetch(`${url()}/v3/discovery:clusters`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "60000" },
        body: JSON.stringify({ node: proxy?.node, version_info: version }),
      });
    const before: { readonly version_info: string } = JSON.parse(await (await poll("")).text());
    appendFileSync(
      join(scratch, "mesh/catalog.yaml"),
      "---\napiVersion: v1\nkind: Service\nmetadata: {name: news, namespace: bookshop}\nspec: {clusterIP: 10.9.9.9, ports: [{name: http, port: 80}]}\n",
    );
    const changed: { readonly version_info: string } = JSON.parse(await (await poll(before.version_info)).text());
    expect(changed.version_info).not.toBe(before.version_info);

    const held = poll(changed.version_info);
    await new Promise((wait) => setTimeout(wait, 1_500));
    serving.child.kill("SIGTERM");
    expect((await held).status).toBe(304);
    expect(await once(serving.child, "exit")).toEqual([0, null]);
    expect(await answers()).toBe(0);
  });

  it("starts the front again when that dies, and leaves no front behind when it is killed itself", async () => {
    const serving = serve(whole());
    await untilServing();
    const { pid } = await serving.line("serving");
    process.kill(Number(pid), "SIGKILL");
    await serving.line("the front has exited and is restarted");
    await untilServing();
    expect(serving.child.exitCode).toBeNull();
    serving.child.kill("SIGKILL");
    expect(await eventually(answers, (status) => status === 0, 20_000)).toBe(0);
  });

  it("runs parts of a file in several processes, on one store", async () => {
    const front = serve(whole(), {}, "--only", "front");
    const compiler = serve(whole(), {}, "--only", "compile", "collectors");
    await untilServing();
    expect(front.lines.filter(({ msg }) => msg === "compiling")).toEqual([]);
    expect(compiler.lines.filter(({ msg }) => msg === "serving")).toEqual([]);
  });

  it("ends with what is wrong: a file with errors, a variable that says what it cannot, a front that cannot serve", async () => {
    const wrong = serve("front:\n  prot: 1\n");
    expect(await once(wrong.child, "exit")).toEqual([1, null]);
    expect(wrong.lines.map(({ msg }) => msg).join("\n")).toMatch(/settings\.yaml:2 .*did you mean "port"\?/s);

    const variable = serve("", { PORT: "eighty" });
    expect(await once(variable.child, "exit")).toEqual([1, null]);
    expect(variable.lines.map(({ msg }) => msg).join("\n")).toContain('PORT is "eighty"');

    const open = serve("store: store\nfront: {host: 0.0.0.0, port: 0}\n");
    expect(await once(open.child, "exit")).toEqual([1, null]);
    const told = open.lines.map(({ msg }) => msg).join("\n");
    expect(told).toMatch(/settings\.yaml:2 .*0\.0\.0\.0 is open to other machines/s);
    expect(told).toContain("set front.authentication");
    expect(told).not.toContain("PORTOLAN_AUTHENTICATION");
  });

  it("listens before it collects and publishes: a port that is taken ends it with nothing done, in the file's words", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    const serving = serve(whole());
    expect(await once(serving.child, "exit")).toEqual([1, null]);
    other.close();
    await once(other, "close");
    const told = serving.lines.map(({ msg }) => msg).join("\n");
    expect(told).toMatch(/cannot listen on 127\.0\.0\.1:\d+ \(address already in use\); set front\.port to another/);
    expect(told).not.toMatch(/following|compiled|pushed/);
    expect(["HEAD", "sources"].filter((name) => existsSync(join(scratch, "store", name)))).toEqual([]);
  });

  it("is not ready with a front alone before another process publishes, and is where only webhooks fill what it compiles", async () => {
    const readyOf = async (settings: string) => {
      const serving = serve(settings);
      const { url } = await serving.line("health endpoint");
      await serving.line("serving");
      const ready = async () => JSON.parse(await (await fetch(`${url}/readyz`)).text());
      const isStarting = (waitsFor: readonly string[]) =>
        ["the front", "the collectors"].some((one) => waitsFor.includes(one));
      return eventually(ready, ({ waitsFor = [] }) => !isStarting(waitsFor), patienceMs);
    };
    const front = "front: {port: 0, workers: 1}\nhealth: {port: 0}\n";
    expect(await readyOf(`store: one\n${front}`)).toMatchObject({ isReady: false, waitsFor: ["a first publish"] });
    expect(await readyOf(`store: two\n${front}compile: {webhook: {secret: s}}\n`)).toMatchObject({ isReady: true });
  });

  it("is not ready before something is published, and says what it waits for", async () => {
    writeFileSync(join(scratch, "mesh/catalog.yaml"), "kind: [");
    for (const file of ["gateway.yaml", "reviews.yaml", "routes.yaml"])
      rmSync(join(scratch, "mesh", file), { force: true });
    const serving = serve(whole());
    const { url: health } = await serving.line("health endpoint");
    const ready = async () => {
      const answer = await fetch(`${health}/readyz`);
      return { status: answer.status, ...JSON.parse(await answer.text()) };
    };
    await serving.line("serving");
    await serving.line("following");
    expect(await eventually(ready, ({ waitsFor = [] }) => waitsFor.length === 1)).toMatchObject({
      status: 503,
      isReady: false,
      waitsFor: ["a first publish"],
    });
    cpSync(sample, join(scratch, "mesh"), { recursive: true });
    await eventually(ready, ({ status }) => status === 200, patienceMs);
    expect(await answers()).toBe(200);
  });
});
