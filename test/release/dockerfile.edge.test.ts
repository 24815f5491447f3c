import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Instructions of a Dockerfile, with lines that go on joined, comments left out and build arguments put in. */
function instructionsOf(text: string): readonly Instruction[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n");
  const found = lines.flatMap((line) => {
    if (line.trim() === "") return [];
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) throw new Error(`no instruction: ${line}`);
    return [{ name, rest: rest.replaceAll(/ +/g, " ").trim() }];
  });
  const usual = new Map(found.filter(({ name }) => name === "ARG").map(({ rest }) => pair(rest)));
  return found.map(({ name, rest }) => ({
    name,
    rest: rest.replace(/\$\{(\w+)\}/g, (_, arg) => usual.get(arg) ?? ""),
  }));
}

function pair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}

function stagesOf(instructions: readonly Instruction[]): readonly Stage[] {
  const starts = instructions.flatMap(({ name }, at) => (name === "FROM" ? [at] : []));
  return starts.map((start, at) => {
    const [base = "", , name = ""] = (instructions[start]?.rest ?? "").split(" ");
    return { name, base, instructions: instructions.slice(start + 1, starts[at + 1]) };
  });
}

const restsOf = (stage: Stage | undefined, name: string) =>
  (stage?.instructions ?? []).filter((one) => one.name === name).map(({ rest }) => rest);

/** Files of a fresh clone that `.dockerignore` lets into the context: it excludes everything, and then names what is not excluded. */
function contextFiles(): readonly string[] {
  const [first, ...kept] = textOf(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  expect(kept.filter((line) => !line.startsWith("!"))).toEqual([]);
  const paths = kept.map((line) => line.slice(1));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  return tracked.filter((file) => paths.some((path) => file === path || file.startsWith(`${path}/`)));
}

describe("the Dockerfile", () => {
  const [packed, installed, image, ...more] = stagesOf(instructionsOf(textOf("Dockerfile")));
  let folder: string;
  let context: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "portolan-docker-"));
    context = join(folder, "source");
    for (const file of contextFiles()) cpSync(join(root, file), join(context, file), { recursive: true });
    // What `npm ci` brings and generates. Packing generates it anew where the context has other protos than this tree.
    symlinkSync(join(root, "node_modules"), join(context, "node_modules"));
    cpSync(join(root, "gen"), join(context, "gen"), { recursive: true, dereference: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has three stages, on images of public registries, each with a version", () => {
    expect(more).toEqual([]);
    expect([packed?.name, installed?.name]).toEqual(["packed", "installed"]);
    const bases = [packed, installed, image].map((stage) => stage?.base ?? "");
    for (const base of bases) expect(base).toMatch(/^(?:docker\.io|gcr\.io)\/[\w./-]+:[\w.-]+$/);
  });

  it("packs the package from what .dockerignore lets through", () => {
    expect(restsOf(packed, "COPY")).toEqual([". ."]);
    const [install, pack = "", ...others] = restsOf(packed, "RUN");
    expect([install, others]).toEqual(["npm ci --no-audit --no-fund", []]);
    // As the image has it at its root.
    const command = pack.replaceAll("/packed", join(folder, "packed"));
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/.test(name)));
    execFileSync("sh", ["-c", command], { cwd: context, env, stdio: ["ignore", "ignore", "pipe"] });
    const { version } = JSON.parse(textOf("package.json"));
    const tarball = join(folder, "packed", `portolan-${version}.tgz`);
    const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).split("\n");
    const [node, entry = ""] = JSON.parse(restsOf(image, "ENTRYPOINT")[0] ?? "[]");
    expect(node).toBe("/nodejs/bin/node");
    expect(files).toContain(entry.replace("/portolan/node_modules/portolan/", "package/"));
    expect(files).toContain("package/dist/package/cli.js");
  }, 120_000);

  it("installs the tarball, and the libraries of clouds in the versions that tests use", () => {
    expect(restsOf(installed, "COPY")).toEqual(["--from=packed /packed /packed"]);
    const [install = "", ...others] = restsOf(installed, "RUN");
    expect(others).toEqual([]);
    const [npm, word, ...args] = install.split(" ");
    expect([npm, word]).toEqual(["npm", "install"]);
    const [tarball, ...libraries] = args.filter((arg) => !arg.startsWith("--"));
    expect(tarball).toBe("/packed/portolan-*.tgz");
    const { peerDependencies, devDependencies } = JSON.parse(textOf("package.json"));
    const wanted = Object.keys(peerDependencies).map((name) => `${name}@${devDependencies[name]}`);
    expect([...libraries].sort()).toEqual(wanted.sort());
  });

  it("starts serve with options that it has, as a user that is not root", () => {
    expect(restsOf(image, "COPY")).toEqual(["--from=installed /portolan /portolan"]);
    expect(restsOf(image, "USER")).toEqual(["65532:65532"]);
    const [command = "", ...options] = JSON.parse(restsOf(image, "CMD")[0] ?? "[]");
    const cli = join(root, "functions/cli.ts");
    const help = execFileSync(process.execPath, [cli, command, "--help"], { encoding: "utf8" });
    for (const option of options.filter((one: string) => one.startsWith("--"))) expect(help).toContain(option);
    expect(dirname(options.at(-1))).toBe("/etc/portolan");
  });
});
