import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { program } from "../programs.ts";
import { runPortolan } from "./run-portolan.ts";

const cli = await program("cli");

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-line-"));
  await writeFile(join(folder, "a.yaml"), rule("host"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const rule = (field: string) =>
  `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: a, namespace: shop }\nspec: { ${field}: a }\n`;

const { PORTOLAN_STORE: _store, PORT: _port, ...rest } = process.env;

/** One command line in a folder of its own, as a person types it: a process by itself, for what only a process can show. */
function started(line: string) {
  const options = { cwd: folder, env: rest, encoding: "utf8", timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...line.split(" ")], options);
  return { code: status, out: stdout.trim(), err: stderr.trim() };
}

/** The same in this process, which takes a tenth of the time; it is in that folder, with that environment. */
async function run(line: string, env: Readonly<Record<string, string>> = {}) {
  const home = process.cwd();
  for (const name of ["PORTOLAN_STORE", "PORT"]) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  process.chdir(folder);
  try {
    return await runPortolan(...line.split(" "));
  } finally {
    process.chdir(home);
    vi.unstubAllEnvs();
  }
}

/** The same where neither its folder nor its environment counts. */
async function called(line: string) {
  const { code, err } = await runPortolan(...line.split(" ").map((word) => (word === "HERE" ? folder : word)));
  return { code, err };
}

describe("a store", () => {
  it("is named by --store, else PORTOLAN_STORE, else the settings, else .portolan/store", async () => {
    const made = async () => (await readdir(folder)).filter((name) => /^\d$/.test(name));
    await run("push . --store 1", { PORTOLAN_STORE: "2" });
    expect(await made()).toEqual(["1"]);
    await run("push .", { PORTOLAN_STORE: "2" });
    expect(await made()).toEqual(["1", "2"]);
    await run("push .");
    expect((await run("history")).out).toContain("publish");
    await writeFile(join(folder, ".portolan/settings.json"), '{"store": "3"}');
    await run("push .");
    expect(await made()).toEqual(["1", "2", "3"]);
    await writeFile(join(folder, ".portolan/settings.json"), '{"sotre": "3"}');
    expect(await run("history")).toMatchObject({
      code: 1,
      err: expect.stringContaining("settings.json cannot be read"),
    });
  }, 90_000);

  it("is refused where it can be none, and no folder of that name is made", async () => {
    expect((await run("push . --store http://mesh.example")).err).toContain("http://mesh.example is no store");
    expect((await run("push . --store s3:/mesh")).err).toContain("s3:/mesh is no store. Write s3://BUCKET/PREFIX");
    expect((await run("apply -f a.yaml --store htp://x")).err).toContain(
      "htp://x is no store. Use a folder (./mesh), s3://BUCKET/PREFIX",
    );
    expect(await readdir(folder)).toEqual(["a.yaml"]);
  }, 60_000);

  it.each(["get vs", "fsck", "gc", "history", "status", "diff", "rollback", "recover", "secret list"])(
    "that is not there fails %s",
    async (line) => {
      vi.stubEnv("PORTOLAN_SECRETS_KEY", Buffer.alloc(32, 1).toString("base64"));
      const nowhere = join(folder, "nowhere");
      const { code, err } = await called(`${line} --store ${nowhere}`);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`there is no store at ${nowhere}`) });
      expect(await readdir(folder)).toEqual(["a.yaml"]);
    },
  );

  it("in a bucket says what to set where nothing says its region, or who asks", async () => {
    const none = { HOME: folder, AWS_EC2_METADATA_DISABLED: "true", AWS_PROFILE: "", AWS_ACCESS_KEY_ID: "" };
    const off = { ...none, AWS_SECRET_ACCESS_KEY: "", PORTOLAN_S3_ENDPOINT: "" };
    expect(await run("get vs --store s3://mesh/prod", { ...off, AWS_REGION: "" })).toEqual({
      code: 1,
      out: "",
      err: "portolan: no region for the bucket mesh: set AWS_REGION, or a profile that has one with AWS_PROFILE",
    });
    expect(await run("get vs --store s3://mesh/prod", { ...off, AWS_REGION: "eu-west-1" })).toEqual({
      code: 1,
      out: "",
      err: "portolan: no credentials for the bucket mesh: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with AWS_PROFILE",
    });
  }, 60_000);

  it("that is not there is told of beside those that are", async () => {
    await run("push .");
    await mkdir(join(folder, ".portolan/dev-empty"));
    expect((await run("history --store other")).err).toContain("there are: .portolan/store; name one with --store");
  }, 60_000);

  it("of portolan dev is printed, and found by history", async () => {
    expect(started("dev . --once").err).toMatch(/^store +\.portolan\/dev-\w{8}$/m);
    expect((await run("history")).out).toContain("publish");
    expect((await run("history --store .portolan/other")).err).toMatch(
      /there are: \.portolan\/dev-\w{8} \(\.\); name one with --store/,
    );
  }, 60_000);
});

describe("a file that is named", () => {
  it.each([
    "validate NAMED",
    "cost --proxies 1 --prices NAMED",
    "settings check NAMED",
    "settings env NAMED",
    "serve --settings NAMED",
    "bootstrap --node NAMED",
    "collect mcp --address mcp://127.0.0.1:1 --once --ca NAMED --store STORE",
    "proxy-status --server http://127.0.0.1:1 --token-file NAMED",
    "keys list --keyring NAMED",
  ])("and is none is said so in words that are no system's: %s", async (line) => {
    const store = join(folder, "store");
    expect((await called(`push HERE --store ${store}`)).code).toBe(0);
    const named = async (path: string) => (await called(line.replace("NAMED", path).replace("STORE", store))).err;
    const isFolderTaken = line.startsWith("validate");
    const isMade = line.includes("--keyring");
    const nowhere = join(folder, "nowhere");
    if (!isMade) expect(await named(nowhere)).toMatch(new RegExp(`${nowhere}.*there is no such file`));
    if (!isFolderTaken)
      expect(await named("HERE")).toMatch(
        /it is a folder, and a file is wanted|is a folder, and the keyring is a file/,
      );
    expect(await named(nowhere)).not.toMatch(/ENOENT|EISDIR|syscall/);
  });

  it("as a store is refused, and nothing of it is touched", async () => {
    const { code, err } = await called(`push HERE --store ${join(folder, "a.yaml")}`);
    expect([code, err]).toEqual([1, expect.stringContaining("a.yaml is a file, and a store is a folder")]);
  });
});

describe("exit codes", () => {
  it.each([
    ["validate", "no input"],
    ["analyze", "no input"],
    ["get vs -o xml", "Allowed choices"],
    ["get virtualservise", "did you mean virtualservice?"],
    ["gc --keep many", "a whole number from 1"],
    ["rollback x", "not a whole number"],
    ["bootstrap --admin-port 99999", "a whole number from 0 to 65535"],
    ["bootstrap --server localhost:8080", "write http://localhost:8080"],
    ["bootstrap --server ftp://x", "write http://x"],
    ["bootstrap-v1 --server localhost:8080", "write http://localhost:8080"],
    ["status --server nonsense", "write http://nonsense"],
    ["status --server http://", "write http://localhost:8080"],
    ["push HERE --url mesh.example", "--url needs a URL of http or https: write http://mesh.example"],
    ["proxy-config routes --admin localhost:15000", "--admin needs a URL"],
    ["push HERE --store htp://x", "htp://x is no store"],
    ["canary 1", "canary 1 --percent 10"],
    ["analyze HERE --failure-threshold Fatal", "known are Error, Warning and Info"],
    ["push HERE --label a=b", "--label needs --canary"],
    ["dev --port abc", "a port is a number"],
    ["nothing", "unknown command"],
    ["aply --help", "Did you mean apply?"],
    ["help aply", "Did you mean apply?"],
    ["ca inti -h", "Did you mean init?"],
  ])("are 2 for what cannot be meant: %s", async (line, says) => {
    expect(await called(line)).toMatchObject({ code: 2, err: expect.stringContaining(says) });
  });

  it("are 0 for a version, by either name", () => {
    const version = started("-v");
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(started("--version")).toEqual(version);
  });

  it("do not depend on a PORT that another command reads", async () => {
    expect(await run("validate a.yaml", { PORT: "abc" })).toMatchObject({ code: 0, out: "1 object is valid" });
    expect(await run("dev --once", { PORT: "abc" })).toMatchObject({ code: 2 });
  });

  it("are 1 for dev --once with an error, after all is told", async () => {
    await writeFile(join(folder, "b.yaml"), rule("hots").replace("name: a", "name: b"));
    expect(started("dev . --once")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/unknown-field.*\n.*1 error$/s),
    });
  });

  it("are 1 for dev on a port that is taken, which ends at once", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    expect(started(`dev . --port ${port}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining("set PORT or --port"),
    });
    await new Promise((resolve) => server.close(resolve));
  }, 60_000);

  it("are 0, and nothing is told, where whoever reads has read enough", async () => {
    const child = spawn(process.execPath, [cli, "get", "--help"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    let told = "";
    child.stderr.on("data", (data) => {
      told += data;
    });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
    expect(told).toBe("");
  });
});

describe("an annotation of a pod that no proxy can be told", () => {
  const pod = `apiVersion: v1
kind: Pod
metadata:
  name: web-1
  labels: { security.istio.io/tlsMode: istio }
  annotations: { proxy.istio.io/config: "concurrency: NUMBER" }
status: { podIP: 10.0.0.1 }
`;
  const says = expect.stringContaining("[pod-annotation-invalid]");

  it("is an error of validate, and told by bootstrap", async () => {
    await writeFile(join(folder, "pod.yaml"), pod.replace("NUMBER", "many"));
    const refused = await called("validate HERE");
    expect(refused).toEqual({ code: 1, err: says });
    expect(refused.err).toMatch(/portolan: 1 error; 1 object is valid$/);
    expect(await called("bootstrap --dir HERE")).toEqual({ code: 0, err: says });
    await writeFile(join(folder, "pod.yaml"), pod.replace("NUMBER", "2"));
    expect(await called("validate HERE")).toEqual({ code: 0, err: "" });
    expect(await called("bootstrap --dir HERE")).toEqual({ code: 0, err: "" });
  });
});

describe("files and folders", () => {
  it("are named as arguments as well as with -f", async () => {
    expect((await run("analyze .")).out).toContain("IST0174");
    expect((await run("validate a.yaml -f .")).err).toContain("duplicate-object");
    expect(JSON.parse((await run("validate a.yaml --json")).out)).toEqual({ valid: 1, diagnostics: [] });
  });
});
