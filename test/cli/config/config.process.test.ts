import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import picocolors from "picocolors";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { registerAnalyze } from "../../../lib/cli/config/config-analyze.ts";
import { registerDelete } from "../../../lib/cli/config/config-delete.ts";
import { registerDescribe } from "../../../lib/cli/config/config-describe.ts";
import { registerGet } from "../../../lib/cli/config/config-get.ts";
import { registerValidate } from "../../../lib/cli/config/config-validate.ts";
import { registerApply, registerCreate, registerReplace } from "../../../lib/cli/config/config-write.ts";
import { registerHistory } from "../../../lib/cli/history.ts";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { type RunningServer, serveHttp } from "../../../lib/front/node-server.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { rollback } from "../../../lib/snapshot/head/head-operations.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const registers = [
  registerAnalyze,
  registerApply,
  registerCreate,
  registerDelete,
  registerDescribe,
  registerGet,
  registerHistory,
  registerReplace,
  registerValidate,
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs one command line; gives what it printed, or what it failed with after what it printed. */
async function run(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
    colours: picocolors.createColors(false),
  };
  const program = new Command("portolan").exitOverride();
  for (const register of registers) register(program, terminal);
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    lines.push(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  return lines.join("\n");
}

const store = (...args: readonly string[]) => run(...args, "--store", join(folder, "state"));

function file(name: string, ...hosts: readonly string[]): string {
  const path = join(folder, name);
  const documents = hosts.map(
    (host) =>
      `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: ${host}}\nspec: {host: ${host}}\n`,
  );
  writeFileSync(path, documents.join("---\n"));
  return path;
}

describe("a folder that -f names", () => {
  const service = (port: number) =>
    `apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: ${port}}]}\n`;

  it("has its settings and its further clusters where they stand in a folder", async () => {
    mkdirSync(join(folder, "clusters"));
    writeFileSync(join(folder, "mesh.yaml"), "rootNamespace: mesh\n");
    writeFileSync(join(folder, "web.yaml"), service(80));
    writeFileSync(join(folder, "clusters", "west.yaml"), service(80));
    expect(await run("validate", "-f", folder)).toBe("2 objects are valid");
    writeFileSync(join(folder, "clusters", "west.yaml"), service(99999));
    expect(await run("validate", "-f", `${folder}/`)).toContain(
      `error ${join(folder, "clusters/west.yaml")}:4 Service shop/web: spec.ports[0].port: 99999 is not between 1 and 65535`,
    );
  });

  it("costs a file that cannot be read only itself", async () => {
    file("a.yaml", "a");
    symlinkSync(join(folder, "gone"), join(folder, "link.yaml"));
    expect(await run("validate", "-f", folder)).toMatch(
      /^error .*link\.yaml: cannot be read: it is a link to nothing \[IST0106 unreadable-file\]\n.*\nfailed: 1 error; 1 object is valid$/,
    );
    expect(await run("apply", "-f", folder)).toContain("failed: configuration is invalid: nothing to apply");
  });
});

describe("the commands that write configuration", () => {
  it("apply leaves a source alone that a collector fills, before it has written anything", async () => {
    const state = fileStore(join(folder, "state"));
    const writer = createShardWriter(state, { source: "k2", about: { kind: "consul" }, identity: () => undefined });
    await writer.load(new Map());
    await writer.write(new Map([["a", "1 {}"]]), false);
    const told = await store("apply", "-f", file("a.yaml", "a"), "--source", "k2");
    expect(told).toContain("failed: source k2 is filled by a collector, from Consul, and a source has one writer");
    for await (const { key } of state.list("sources/k2/")) expect(key).not.toContain("ledger");
  });

  it("create says what it created, and fails on what exists without writing anything", async () => {
    expect(await store("create", "-f", file("a.yaml", "a", "b"))).toBe(
      "Created config DestinationRule/default/a at revision 1\nCreated config DestinationRule/default/b at revision 1",
    );
    expect(await store("create", "-f", file("c.yaml", "c", "a"))).toBe(
      "failed: DestinationRule/default/a: already exists",
    );
    expect(await store("get", "destinationrules", "-o", "name")).toBe(
      "DestinationRule/default/a\nDestinationRule/default/b",
    );
  });

  it("apply creates, updates, and leaves alone what is as it should be", async () => {
    await store("apply", "-f", file("a.yaml", "a", "b"));
    const path = file("b.yaml", "b", "c");
    writeFileSync(
      join(folder, "a.yaml"),
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec: {host: other}\n",
    );
    expect(await store("apply", "-f", path, "-f", join(folder, "a.yaml"))).toBe(
      [
        "Updated config DestinationRule/default/a to revision 2",
        "Unchanged config DestinationRule/default/b",
        "Created config DestinationRule/default/c at revision 2",
      ].join("\n"),
    );
  });

  it("replace fails on what does not exist", async () => {
    expect(await store("replace", "-f", file("a.yaml", "a"))).toContain("there is no store at");
    await store("apply", "-f", file("b.yaml", "b"));
    expect(await store("replace", "-f", file("a.yaml", "a"))).toBe("failed: DestinationRule/default/a: does not exist");
  });

  it("writes nothing in a dry run", async () => {
    expect(await store("create", "-f", file("a.yaml", "a"), "--dry-run")).toContain("(dry run)");
    expect(await store("get", "destinationrules")).toContain("there is no store at");
  });

  it("refuses invalid input whole", async () => {
    const path = join(folder, "bad.yaml");
    writeFileSync(
      path,
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec: {hots: a}\n",
    );
    expect(await store("apply", "-f", file("good.yaml", "b"), "-f", path)).toBe(
      "failed: configuration is invalid: nothing to apply",
    );
    expect(await store("get", "destinationrules")).toContain("there is no store at");
  });

  it("takes the namespace of -n, and refuses objects that name another", async () => {
    expect(await store("apply", "-f", file("a.yaml", "a"), "-n", "shop")).toContain("DestinationRule/shop/a");
    const path = join(folder, "b.yaml");
    writeFileSync(
      path,
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: b, namespace: x}\nspec: {host: b}\n",
    );
    expect(await store("apply", "-f", path, "-n", "shop")).toContain("failed: objects name another namespace than -n");
  });

  it("hands what it wrote to the compiler", async () => {
    await store("apply", "-f", file("a.yaml", "a"));
    const shard = await readShard(fileStore(join(folder, "state")), "operators");
    expect(shard?.files.map((one) => one.file)).toEqual(["DestinationRule/default/a.yaml"]);
    await store("delete", "destinationrule", "a");
    expect((await readShard(fileStore(join(folder, "state")), "operators"))?.files).toEqual([]);
  });

  it("compiles what it wrote, with what the other sources hold", async () => {
    const objects = fileStore(join(folder, "state"));
    await writeShard(objects, "main", [{ file: "a.yaml", text: readFileSync(file("a.yaml", "a"), "utf8") }]);
    await store("apply", "-f", file("b.yaml", "b"));
    const { head } = (await readHead(objects)) ?? {};
    expect(head?.generation).toBe(1);
    const { root } = await createSnapshotReader(objects).root(head?.steps[0]?.root ?? "");
    expect(root.sources.map(({ name }) => name)).toEqual(["main", "operators"]);
    await rollback(objects, 0, { by: "ann", why: "stop" });
    expect(await store("delete", "destinationrule", "b")).toContain("pinned by ann: stop");
  });
});

describe("the commands that read and delete configuration", () => {
  beforeEach(async () => {
    await store("apply", "-f", file("a.yaml", "a", "b"));
  });

  it("get prints tables, names, and objects that can be applied again", async () => {
    expect(await store("get", "destinationrule")).toBe(
      "NAME   KIND                                     NAMESPACE\na      DestinationRule.networking.istio.io.v1   default\nb      DestinationRule.networking.istio.io.v1   default",
    );
    const yaml = await store("get", "destinationrules", "a", "-o", "yaml");
    expect(yaml).toContain("kind: DestinationRule");
    expect(yaml.endsWith("---")).toBe(true);
    const path = join(folder, "again.yaml");
    writeFileSync(path, yaml);
    expect(await store("apply", "-f", path)).toBe("Unchanged config DestinationRule/default/a");
    expect(JSON.parse(await store("get", "destinationrules", "--json"))).toMatchObject({ kind: "List" });
  });

  it("get says what is wrong with a type", async () => {
    expect(await store("get", "destination-rules")).toContain("without hyphens: destinationrules");
    expect(await store("get", "virtualservise")).toContain("did you mean virtualservice?");
    expect(await store("get", "destinationrules", "x")).toBe(
      "failed: there is no DestinationRule default/x; `portolan get destinationrule` lists those that are",
    );
  });

  it("get shows a past revision", async () => {
    await store("delete", "destinationrule", "a");
    expect(await store("get", "destinationrules", "-o", "name")).toBe("DestinationRule/default/b");
    expect(await store("get", "destinationrules", "-o", "name", "--at", "1")).toBe(
      "DestinationRule/default/a\nDestinationRule/default/b",
    );
  });

  it("get takes what kubectl's users write", async () => {
    await store("apply", "-f", file("c.yaml", "c"), "-n", "shop");
    const names = async (...args: readonly string[]) => (await store("get", ...args, "-o", "name")).split("\n");
    expect(await names("dr")).toEqual([
      "DestinationRule/default/a",
      "DestinationRule/default/b",
      "DestinationRule/shop/c",
    ]);
    expect(await names("dr", "-A")).toHaveLength(3);
    expect(await names("dr", "-n", "shop")).toEqual(["DestinationRule/shop/c"]);
    expect(await names("dr/a", "destinationrule/b")).toEqual([
      "DestinationRule/default/a",
      "DestinationRule/default/b",
    ]);
    expect(await names("vs,dr.networking.istio.io", "-n", "shop")).toEqual(["DestinationRule/shop/c"]);
    expect(await store("get", "vs")).toBe("No resources found.");
    expect(await store("get", "dr", "c")).toBe(
      "failed: there is no DestinationRule default/c; there is one in shop: -n shop",
    );
    expect(await store("get", "dr", "-o", "wide")).toMatch(
      /NAME +KIND +NAMESPACE +SOURCE +REVISION +CREATED\na .* operators +\w{12}/,
    );
    expect(await store("get", "dr", "-o", "xml")).toContain("Allowed choices are short, wide, name, yaml, json");
  });

  it("get and describe show what came with a folder, Kubernetes' own kinds too", async () => {
    const service =
      "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
    await writeShard(fileStore(join(folder, "state")), "main", [{ file: "web.yaml", text: service }]);
    expect(await store("get", "svc", "-o", "name")).toBe("Service/shop/web");
    expect(await store("get", "svc/web", "-n", "shop", "-o", "json")).not.toContain("origin");
    expect(await store("get", "svc,dr", "--source", "main", "-o", "name")).toContain("Service/shop/web");
    expect(await store("describe", "svc", "web", "-n", "shop")).toContain("comes with the folder of source main");
    expect(await store("delete", "svc", "web", "-n", "shop")).toContain("comes with a folder");
  });

  it("describe says of an object of a folder where it stands, what compiling said of it, and when it changed", async () => {
    const rule = (host: string) =>
      `apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web, namespace: shop}\nspec: {hosts: [${host}], http: [{route: [{destination: {host: ${host}}}]}], tls: []}\n`;
    const state = fileStore(join(folder, "state"));
    const recompile = createWorldRecompiler({ store: state });
    for (const text of [rule("a"), rule("b"), `# moved\n${rule("b")}`]) {
      await writeShard(state, "main", [{ file: "web.yaml", text }]);
      await recompile({ by: "anna" });
    }
    const text = await store("describe", "vs", "web", "-n", "shop");
    expect(text).toContain("comes with the folder of source main, web.yaml:2");
    expect(text).toMatch(/^\d+ +\S+ +changed +anna +web\.yaml:1$/m);
    expect(text).toMatch(/^\d+ +\S+ +came +anna +web\.yaml:1$/m);
    const told = JSON.parse(await store("describe", "vs", "web", "-n", "shop", "--json"));
    expect([told.at, told.history.length]).toEqual(["web.yaml:2", 2]);
    await writeShard(state, "main", [{ file: "web.yaml", text: rule("b").replace("tls: []", "tlz: []") }]);
    await recompile({ by: "anna" });
    expect(await store("describe", "vs", "web", "-n", "shop")).toContain("shop/web is not valid");
    // As it is served.
    expect(await store("get", "vs", "web", "-n", "shop", "-o", "yaml")).toContain("hosts:\n    - b");
  });

  it("get and describe find the Gateway API's Gateway by the word that Istio's has, and both where both are there", async () => {
    const gateway = (group: string, name: string, spec: string) =>
      `apiVersion: ${group}/v1\nkind: Gateway\nmetadata: {name: ${name}, namespace: infra}\nspec: ${spec}\n`;
    const theirs = (name: string) =>
      gateway(
        "gateway.networking.k8s.io",
        name,
        "{gatewayClassName: istio, listeners: [{name: web, port: 80, protocol: HTTP}]}",
      );
    const ours = gateway(
      "networking.istio.io",
      "both",
      "{selector: {a: b}, servers: [{hosts: ['*'], port: {number: 80, name: http, protocol: HTTP}}]}",
    );
    const text = [theirs("edge"), theirs("both"), ours].join("---\n");
    await writeShard(fileStore(join(folder, "state")), "main", [{ file: "a.yaml", text }]);
    const api = "Gateway.gateway.networking.k8s.io/infra";
    for (const word of ["gateway", "gw", "gtw", "gateways.gateway.networking.k8s.io"])
      expect(await store("get", word, "edge", "-n", "infra", "-o", "name")).toBe(`${api}/edge`);
    expect(await store("get", "gateway", "both", "-n", "infra", "-o", "name")).toBe(`Gateway/infra/both\n${api}/both`);
    expect(await store("get", "gateway.networking.istio.io", "-o", "name")).toBe("Gateway/infra/both");
    expect(await store("get", "gateway", "edge")).toBe(
      "failed: there is no Gateway default/edge; there is one in infra: -n infra",
    );
    expect(await store("describe", "gateway", "edge", "-n", "infra")).toContain("gatewayClassName: istio");
    expect(await store("describe", "gateway", "both", "-n", "infra")).toMatch(/servers:(.|\n)*gatewayClassName: istio/);
    expect(await store("describe", "gateway", "none", "-n", "infra")).toContain("there is no Gateway infra/none");
  });

  it("delete says where an object comes from that was not applied, and in which namespace there is one", async () => {
    const rule = readFileSync(file("web.yaml", "web"), "utf8").replace("name: web", "name: web, namespace: shop");
    await writeShard(fileStore(join(folder, "state")), "main", [{ file: "web.yaml", text: rule }]);
    expect(await store("delete", "dr", "web", "-n", "shop")).toBe(
      "failed: DestinationRule shop/web was not applied; it comes from the folder of source main: remove it there, and `portolan push` the folder",
    );
    expect(await store("delete", "dr", "web")).toBe(
      "failed: DestinationRule default/web does not exist; there is one in shop: -n shop",
    );
    expect(await store("describe", "dr", "web")).toBe(
      "failed: there is no DestinationRule default/web; there is one in shop: -n shop",
    );
    expect(await store("get", "foo")).toMatch(
      /no type foo; `portolan get TYPE` takes \w+, .*, gateway, gateway\.gateway\.networking\.k8s\.io, /,
    );
    expect(await store("get", "foo")).not.toContain("routerule");
    expect(await store("get", "vsx")).toContain("there is no type vsx; did you mean vs (virtualservice)?");
    expect(await store("get", "virtualservce")).toContain(
      "there is no type virtualservce; did you mean virtualservice?",
    );
  });

  it("apply names what it leaves out", async () => {
    const path = join(folder, "mixed.yaml");
    const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";
    writeFileSync(path, `${readFileSync(file("m.yaml", "m"), "utf8")}---\n${service}`);
    expect(await store("apply", "-f", path)).toContain(`left out: Service default/web (${path}:6)`);
  });

  it("delete takes away in one commit what is there, and fails for what is not", async () => {
    await store("delete", "-f", file("ab.yaml", "a", "b"));
    expect((await store("history", "--source", "operators")).split("\n")[1]).toMatch(/^2 .* 2 +delete 2 objects$/);
  });

  it("delete goes on after what fails, and fails at the end", async () => {
    expect(await store("delete", "destinationrule", "x", "a")).toBe(
      "Deleted config: DestinationRule a\nfailed: DestinationRule default/x does not exist; `portolan get destinationrule` lists those that are",
    );
    expect(await store("delete", "-f", file("b.yaml", "b"))).toBe("Deleted config: DestinationRule b");
    expect(await store("delete")).toContain("failed: name a type");
  });

  it("a write with a revision that is no longer the stored one says who won", async () => {
    const yaml = await store("get", "destinationrules", "a", "-o", "yaml");
    const path = join(folder, "changed.yaml");
    writeFileSync(path, yaml.replace("host: a", "host: mine"));
    await store("apply", "-f", file("a.yaml", "a"));
    writeFileSync(
      join(folder, "other.yaml"),
      yaml.replace("host: a", "host: theirs").replace(/ {2}resourceVersion.*\n/, ""),
    );
    await store("apply", "-f", join(folder, "other.yaml"));
    expect(await store("apply", "-f", path)).toMatch(/was changed by .+ at revision 2 since it was read/);
  });

  it("history lists writes and tells revisions apart", async () => {
    await store("delete", "destinationrule", "a");
    const lines = (await store("history", "--source", "operators")).split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^2 .* 1 +delete DestinationRule\/default\/a$/);
    expect((await store("history", "destinationrule", "b")).split("\n")).toHaveLength(2);
    expect(await store("history", "--diff", "0..2")).toBe("added DestinationRule/default/b");
    expect(await store("history", "--diff", "1..2")).toBe("deleted DestinationRule/default/a");
  });

  it("history and get name the sources that there are, where one is named that is not", async () => {
    await writeShard(fileStore(join(folder, "state")), "main", [], { allowEmpty: true });
    expect(await store("history", "--source", "main")).toContain("No writes found: ");
    expect(await store("history", "--source", "operator")).toBe(
      'failed: there is no source "operator"; did you mean operators?',
    );
    expect(await store("history", "--source", "elsewhere", "--diff", "0..1")).toBe(
      'failed: there is no source "elsewhere"; there are: main, operators',
    );
    expect(await store("get", "vs", "--source", "operator")).toBe(
      'failed: there is no source "operator"; did you mean operators?',
    );
  });

  it("describe shows the object and who wrote it", async () => {
    const text = await store("describe", "destinationrule", "a");
    expect(text).toContain("host: a");
    expect(text).toContain("apply 2 objects");
  });
});

describe("the commands on a compile function", () => {
  const objects = memoryStore();
  let server: RunningServer;
  let compiled = 0;
  beforeAll(async () => {
    const recompile = async () => {
      compiled += 1;
      return { kind: "published", version: "v", generation: compiled, diagnostics: [] } as const;
    };
    const secrets = { ...noSecrets, operators: ["s"] };
    server = await serveHttp(webhookApp({ store: objects, recompile, secrets, sources: ["operators"] }), 0);
  });
  afterAll(() => server.close());
  beforeEach(() => vi.stubEnv("PORTOLAN_WEBHOOK_SECRET", "s"));
  afterEach(() => vi.unstubAllEnvs());
  const remote = (...args: readonly string[]) => run(...args, "--store", server.url);
  const fileNames = async () => (await readShard(objects, "operators"))?.files.map((one) => one.file);

  it("create, get, replace and delete as on any store, and compile after each write", async () => {
    const path = file("a.yaml", "a");
    expect(await remote("create", "-f", path)).toBe("Created config DestinationRule/default/a at revision 1");
    expect(await remote("create", "-f", path)).toContain("failed: DestinationRule/default/a: already exists");
    expect(compiled).toBe(1);
    expect(await fileNames()).toEqual(["DestinationRule/default/a.yaml"]);
    expect(await remote("replace", "-f", file("b.yaml", "b"))).toContain("does not exist");
    expect(await remote("apply", "-f", file("ab.yaml", "a", "b"))).toContain(
      "Created config DestinationRule/default/b",
    );
    expect(await remote("get", "destinationrules", "-o", "name")).toBe(
      "DestinationRule/default/a\nDestinationRule/default/b",
    );
    expect(await remote("describe", "destinationrule", "b")).toContain("host: b");
    expect(await remote("delete", "destinationrule", "a")).toBe("Deleted config: DestinationRule a");
    expect(await fileNames()).toEqual(["DestinationRule/default/b.yaml"]);
    expect(compiled).toBe(3);
    expect(await remote("get", "destinationrule", "a", "--at", "1", "-o", "yaml")).toContain("host: a");
    expect((await remote("history", "--source", "operators")).split("\n")).toHaveLength(4);
  });

  it("replace refuses what somebody changed since it was read", async () => {
    const path = file("c.yaml", "c");
    await remote("create", "-f", path);
    const read = join(folder, "read.yaml");
    writeFileSync(read, await remote("get", "destinationrule", "c", "-o", "yaml"));
    const other = join(folder, "other.yaml");
    writeFileSync(other, readFileSync(path, "utf8").replace("host: c", "host: other"));
    expect(await remote("replace", "-f", other)).toContain("Updated config DestinationRule/default/c");
    writeFileSync(read, readFileSync(read, "utf8").replace("host: c", "host: mine"));
    expect(await remote("replace", "-f", read)).toMatch(
      /failed: DestinationRule\/default\/c: was changed by .* at revision/,
    );
    expect(await remote("get", "destinationrule", "c", "-o", "yaml")).toContain("host: other");
  });

  it("say what the endpoint has against them", async () => {
    const path = file("a.yaml", "a");
    expect(await remote("apply", "-f", path, "--source", "other")).toContain("answers 403: sources/other/");
    vi.stubEnv("PORTOLAN_WEBHOOK_SECRET", "wrong");
    expect(await remote("get", "destinationrules")).toContain("answers 401: the signature is wrong");
    vi.stubEnv("PORTOLAN_WEBHOOK_SECRET", "");
    expect(await remote("get", "destinationrules")).toContain("failed: no secret: set PORTOLAN_WEBHOOK_SECRET");
  });
});

describe("the commands without a store", () => {
  it("validate counts what is valid, and fails on errors with their places", async () => {
    expect(await run("validate", "-f", file("a.yaml", "a"))).toBe("1 object is valid");
    const path = join(folder, "bad.yaml");
    writeFileSync(
      path,
      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec:\n  hots: a\n",
    );
    const text = await run("validate", "-f", path);
    expect(text).toContain(`${path}:5`);
    expect(text).toContain('did you mean "host"?');
    expect(text).toContain("failed: 1 error");
    const kind = "kind: DestinationRules\nmetadata: {name: b}\nspec: {host: b}\n";
    writeFileSync(path, `apiVersion: networking.istio.io/v1\n${kind}`);
    expect(await run("validate", "-f", path)).toContain("failed: 1 error; 0 objects are valid");
  });

  it("analyze prints messages in each form, and fails by its threshold", async () => {
    const path = file("a.yaml", "nowhere");
    expect(await run("analyze", "-f", path)).toBe(
      `Warning [IST0174] (DestinationRule nowhere.default ${path}:4) spec.host no service is known as "nowhere"`,
    );
    writeFileSync(join(folder, "broken.yaml"), "kind: [\n");
    expect(await run("analyze", "-f", join(folder, "broken.yaml"))).toContain(
      `Error [IST0106] (${join(folder, "broken.yaml")}:`,
    );
    expect(await run("analyze", "-f", path, "--failure-threshold", "Warning")).toContain(
      "failed: 1 message at Warning",
    );
    expect(await run("analyze", "-f", path, "--output-threshold", "Error")).toBe("No issues found.");
    expect(JSON.parse(await run("analyze", "-f", path, "--json"))).toMatchObject([
      { code: "IST0174", level: "Warning" },
    ]);
    expect(await run("analyze", "-f", path, "-o", "annotations")).toMatch(
      /^::warning file=.*line=4,title=IST0174 UnknownDestinationRuleHost::spec\.host/,
    );
    expect(await run("analyze", "-f", path, "-o", "table")).toContain("LEVEL");
    expect(await run("analyze", "-f", path, "-S", "IST0174=*")).toBe("No issues found.");
    expect(await run("analyze", "--list")).toContain("virtualservice.GatewayAnalyzer");
  });

  it("analyze takes istioctl's flags: of one namespace, of all, and of folders at any depth", async () => {
    const deep = join(folder, "deep", "er");
    mkdirSync(deep, { recursive: true });
    const rule = (name: string, namespace: string) =>
      `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {host: ${name}}\n`;
    writeFileSync(join(deep, "a.yaml"), `${rule("one", "shop")}---\n${rule("two", "bank")}`);
    const top = join(folder, "deep");
    const shop = await run("analyze", "-f", top, "-n", "shop");
    expect(shop).toMatch(/^Warning \[IST0174\] \(DestinationRule one\.shop .*a\.yaml:4\)[^\n]*$/);
    const all = await run("analyze", "-R", "-A", top, "--output-threshold", "warning");
    expect(all.split("\n")).toHaveLength(2);
    expect(await run("analyze", "-A", "-n", "shop", top)).toContain("cannot be used with option");
    expect(await run("analyze", top, "-S", "IST0174=DestinationRule one.*", "-S", "IST0174=* two.bank")).toBe(
      "No issues found.",
    );
  });

  it("analyze says what compiling says, and validate writes JSON by -o as well", async () => {
    const path = join(folder, "subsets.yaml");
    const subsets = "subsets: [{name: v1}]";
    writeFileSync(
      path,
      `apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: default}\nspec: {ports: [{name: http, port: 80}]}\n---\n` +
        `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a}\nspec: {host: a, ${subsets}}\n---\n` +
        `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: b}\nspec: {host: a, ${subsets}}\n`,
    );
    expect(await run("analyze", path)).toContain("[duplicate-");
    const json = JSON.parse(await run("validate", path, "-o", "json"));
    expect(json).toEqual(JSON.parse(await run("validate", path, "--json")));
    expect(json.valid).toBe(3);
  });

  it("analyze names the line of the field, of several objects in a file, of lists and of the settings of networks", async () => {
    const networks =
      "networks:\n  north:\n    endpoints:\n      - fromRegistry: elsewhere\n    gateways: [{address: 192.0.2.9, port: 15443}]\n";
    const mesh = join(folder, "mesh");
    mkdirSync(mesh);
    writeFileSync(join(mesh, "networks.yaml"), networks);
    file(join("mesh", "two.yaml"), "a.nowhere", "b.nowhere");
    const item = (name: string) =>
      `  - apiVersion: networking.istio.io/v1\n    kind: DestinationRule\n    metadata: {name: ${name}}\n    spec:\n      host: ${name}.nowhere\n`;
    writeFileSync(join(mesh, "list.yaml"), `apiVersion: v1\nkind: List\nitems:\n${item("c")}${item("d")}`);
    const told: readonly { readonly reference: string }[] = JSON.parse(
      await run("analyze", mesh, "--json").then((text) => text.replace(/\nfailed: .*/, "")),
    );
    expect(told.map(({ reference }) => reference)).toEqual(
      ["networks.yaml:4", "list.yaml:8", "list.yaml:13", "two.yaml:4", "two.yaml:9"].map((place) => join(mesh, place)),
    );
  });
});
