import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import picocolors from "picocolors";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/base/diagnostic.ts";
import { registerHistory } from "../../../lib/cli/history.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { createFront, type FrontOptions } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { readAnalysis, writeNotAnalyzed } from "../../../lib/snapshot/analysis-record.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { runPortolan } from "../run-portolan.ts";
import { registerSnapshots } from "./snapshot-commands.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
let folder = "";
const storePath = () => join(folder, "store");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-cli-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a command line and gives what it wrote to standard output. */
async function run(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, colours: picocolors.createColors(false) };
  const program = new Command("portolan").exitOverride();
  registerHistory(program, terminal);
  registerSnapshots(program, terminal);
  await program.parseAsync(["node", "portolan", ...args]);
  return lines.join("\n");
}

/** The same, with all that it tells while it goes on. */
function onStoreTelling(...args: readonly string[]) {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const program = new Command("portolan").exitOverride();
  registerSnapshots(program, terminal);
  return { lines, done: program.parseAsync(["node", "portolan", ...args, "--store", storePath()]) };
}

const rule = (name: string, field: string) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: ${name}, namespace: shop }
spec: { ${field}: ${name}.shop.svc.cluster.local }
`;

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const made = await mkdtemp(join(folder, "made-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(made, name), text);
  return made;
}

const filesIn = (folder: string): Promise<readonly string[]> => readdir(folder, { recursive: true }).catch(() => []);

const onStore = (...args: readonly string[]) => run(...args, "--store", storePath());

async function publish(...contents: readonly string[]): Promise<void> {
  const store = fileStore(storePath());
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  for (const content of contents) {
    const world = worldOf({ web: { clusters: { a: "1" }, routes: { "80": content } } });
    await publisher.publish(world, await publisher.head());
  }
}

describe("status, of a front", () => {
  it("counts the nodes that it tells, and says nothing of them where it keeps none", async () => {
    await publish("1");
    const store = fileStore(storePath());
    const options = { front: undefined, now: Date.now, everyMs: 0, limits, onError: () => {} };
    const nodes = recordedNodes(store, options);
    const told = async (kept: Partial<FrontOptions>) => {
      const front = createFront({ store, ...kept });
      const server = await serveHttp(frontApp(front), 0);
      const status = await onStore("status", "--server", server.url);
      front.close();
      await server.close();
      return status;
    };
    expect(await told({ nodes })).toContain("proxies none has accepted anything of this front yet");
    nodes.has({ nodeId: "a", type: "clusters", name: "" }, "1", "poll");
    nodes.has({ nodeId: "b", type: "clusters", name: "" }, "1", "delta");
    expect(await told({ nodes })).toContain("proxies 2 proxies: 2 stale (1 by polls, 1 by deltas)");
    expect(await told({ nodes })).toMatch(/^stale {3}2 proxies behind what is in force: a, b$/m);
    expect(await told({})).toContain("those that ask have a class, and take what they get");
  });
});

describe("portolan", () => {
  it("create says at once that an object stands in a folder, too, and says nothing of what it has written itself", async () => {
    await onStore("push", await folderOf({ "a.yaml": rule("a", "host") }));
    const own = await folderOf({ "b.yaml": rule("a", "host"), "c.yaml": rule("c", "host") });
    const { code, err } = await runPortolan("create", "-f", own, "--store", storePath());
    expect(code).toBe(0);
    expect(err.split("\n").filter((line) => line.startsWith("warning: "))).toEqual([
      expect.stringMatching(/^warning: DestinationRule\/shop\/a is also in a folder .*, at a\.yaml:1: /),
    ]);
    const again = await runPortolan("apply", "-f", own, "--store", storePath());
    expect(again.err).not.toContain("DestinationRule/shop/c stands");
  });

  it("unpin and abort with nothing to do say so, and end well; promote without a canary does not", async () => {
    await publish("1");
    expect(await onStore("unpin")).toContain("nothing is pinned");
    expect(await onStore("abort")).toContain("no canary runs");
    expect(JSON.parse(await onStore("abort", "--json"))).toEqual({ done: false, reason: expect.any(String) });
    await expect(onStore("promote")).rejects.toThrow("there is no canary");
  });

  it("history and status keep what others have written on its line", async () => {
    await publish("1", "2");
    await onStore("rollback", "--why", "down\n>    99  2026-01-01T00:00:00.000Z  rollback  deadbeef0000  by root");
    expect((await onStore("history")).split("\n").filter((line) => line.startsWith(">"))).toHaveLength(1);
    expect(await onStore("status")).toMatch(/^pinned {2}by .*: down > {4}99 /m);
  });

  it("history lists publications and marks what is served", async () => {
    await publish("1", "2");
    const text = await onStore("history");
    expect(text.split("\n").map((line) => line.slice(0, 7))).toEqual([">     2", "      1"]);
    expect((await onStore("history", "--json", "--limit", "1")).split("\n").map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ generation: 2, reason: "publish" }),
    ]);
  });

  it("rollback leads back, and says from what; the next one goes on from there", async () => {
    await publish("1", "2");
    expect(await onStore("rollback")).toMatch(/^generation 3 leads to \w{12}, .*and leaves \w{12}$/m);
    await expect(onStore("rollback")).rejects.toThrow("does not go back 1");
    expect(await onStore("diff", "1", "3")).toContain("0 added, 0 removed, 0 changed");
    await expect(onStore("rollback", "9")).rejects.toThrow("does not go back");
    await expect(onStore("rollback", "x")).rejects.toThrow("not a whole number");
  });

  it("push and recompile record the analysers' messages, and status shows them, or why there are none", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    const { version, analysis } = JSON.parse(await onStore("push", shop, "--json"));
    const store = fileStore(storePath());
    const recorded = await readAnalysis(store, version);
    expect(recorded).toMatchObject({ kind: "analyzed", messages: [{ code: "IST0174", origin: { file: "a.yaml" } }] });
    expect(analysis).toMatchObject([{ code: "IST0174" }]);
    expect(await onStore("status")).toContain("0 errors and 1 warning of the analysers");
    await store.delete(`analysis/${version}`);
    const run = "; run `portolan analyze -f FOLDER`, or `--kube` for a cluster";
    expect(await onStore("status")).toContain(`not analyzed: nothing is recorded of this version${run}`);
    await writeNotAnalyzed(store, version, "there is no room");
    expect(await onStore("status")).toContain(`not analyzed: there is no room${run}`);
    expect(JSON.parse(await onStore("status", "--json"))).toMatchObject({ notAnalyzed: "there is no room" });
    await onStore("recompile");
    expect(await readAnalysis(store, version)).toEqual(recorded);
  });

  it.each(["push", "recompile"])("%s publishes where the analysers' messages cannot be recorded", async (command) => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    await rm(join(storePath(), "analysis"), { recursive: true });
    await writeFile(join(storePath(), "analysis"), "a file where a folder is wanted");
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    const told = onStoreTelling(command, ...(command === "push" ? [shop] : []));
    await told.done;
    expect(told.lines.find((line) => /^(?:published|unchanged): /.test(line))).toBeDefined();
    expect(told.lines.find((line) => line.includes("messages of the analysers were not recorded"))).toBeDefined();
  });

  it("push names what is gone, and not what stands elsewhere or is kept in its form before", async () => {
    const shop = await folderOf({
      "a.yaml": rule("a", "host"),
      "b.yaml": rule("b", "host"),
      "c.yaml": rule("c", "host"),
    });
    await onStore("push", shop);
    await rm(join(shop, "a.yaml"));
    await writeFile(join(shop, "b.yaml"), rule("bb", "host"));
    await writeFile(join(shop, "d.yaml"), rule("a", "host"));
    await writeFile(join(shop, "c.yaml"), rule("c", "host").replace("host:", "hostt:"));
    const pushed = onStoreTelling("push", shop);
    await pushed.done.catch(() => {});
    expect(pushed.lines.filter((line) => line.startsWith("gone:"))).toEqual([
      expect.stringMatching(/^gone: DestinationRule\S*\/b, which was in b.yaml:1$/),
    ]);
    await rm(join(shop, "d.yaml"));
    await writeFile(join(shop, "c.yaml"), rule("c", "host"));
    expect(JSON.parse(await onStore("push", shop, "--json")).gone).toEqual([
      { object: expect.stringMatching(/\/a$/), file: "d.yaml", line: 1 },
    ]);
    // What was served as it was last valid is gone with the file that nobody could read.
    await writeFile(join(shop, "c.yaml"), "kind: [oops");
    await onStoreTelling("push", shop).done.catch(() => {});
    await rm(join(shop, "c.yaml"));
    expect(JSON.parse(await onStore("push", shop, "--json")).gone).toEqual([
      { object: expect.stringMatching(/\/c$/), file: "c.yaml", line: 1 },
    ]);
  });

  it("rollback to what differs in its sources alone says that it changes nothing", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    await writeFile(join(shop, "a.yaml"), `# a remark\n${rule("a", "host")}`);
    expect(await onStore("push", shop)).toMatch(/^published/m);
    await expect(onStore("rollback")).rejects.toThrow("does not go back 1 configuration");
    expect(await onStore("rollback", "--to", "HEAD~1")).toContain("it is equal to what every proxy has already");
    expect(JSON.parse(await onStore("rollback", "0", "--json"))).toMatchObject({ saysTheSame: true });
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    await onStore("push", shop, "--canary", "10");
    expect(await onStore("rollback", "0")).not.toContain("served already");
  });

  it("rollback counts configuration, says what it holds, and takes services back only with --whole", async () => {
    const service = (port: number) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{name: http, port: ${port}}]}\n`;
    const shop = await folderOf({ "a.yaml": rule("a", "host"), "web.yaml": service(80) });
    const push = async (file: string, text: string) => {
      await writeFile(join(shop, file), text);
      return JSON.parse(await onStore("push", shop, "--json"));
    };
    const { version: first, generation } = JSON.parse(await onStore("push", shop, "--json"));
    await push("b.yaml", rule("b", "host"));
    await push("web.yaml", service(81));
    await push("web.yaml", service(82));
    const changes = (await onStore("history", "--config")).split("\n");
    expect(changes[0]).toMatch(new RegExp(`^> +${generation + 1} `));
    expect(changes[1]).toMatch(new RegExp(`^ +${generation} `));
    const told = await onStore("rollback", "--why", "too many errors");
    expect(told).toContain("services and endpoints are followed");
    expect(told).not.toContain("are those of that version");
    const status = await onStore("status");
    expect(status).toContain("holds configuration; services and endpoints are followed");
    expect(status).toMatch(/^served .* rollback by .*: too many errors$/m);
    const { pin, root } = JSON.parse(await onStore("rollback", "--to", first, "--whole", "--json"));
    expect([root, pin.configuration]).toEqual([first, undefined]);
    expect(await onStore("status")).toContain("holds everything, services and endpoints too, as it was then");
    expect(await onStore("unpin")).toMatch(/^generation \d+ leads to/m);
  });

  it("status names the generation that history marks, and since when its configuration is in force", async () => {
    const service = (port: number) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{name: http, port: ${port}}]}\n`;
    const shop = await folderOf({ "a.yaml": rule("a", "host"), "web.yaml": service(80) });
    await onStore("push", shop);
    expect(await onStore("status")).toMatch(/^served {2}\w{12} {2}since \S+ {2}generation 1, publish/m);
    for (const port of [81, 82]) {
      await writeFile(join(shop, "web.yaml"), service(port));
      await onStore("push", shop);
    }
    expect(await onStore("history")).toMatch(/^> +3 /m);
    expect(await onStore("status")).toMatch(
      /^served {2}\w{12} {2}generation 3, configuration in force since \S+ {2}generation 1, publish/m,
    );
    expect(JSON.parse(await onStore("status", "--json"))).toMatchObject({ generation: 3, since: { generation: 1 } });
  });

  it("push --canary says which canary ended with it", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    const first = await onStore("push", shop, "--canary", "10");
    expect(first).not.toContain("ended with it");
    await writeFile(join(shop, "c.yaml"), rule("c", "host"));
    const root = /leads to (\w{12})/.exec(first)?.[1];
    expect(await onStore("push", shop, "--canary", "20")).toContain(`the canary of ${root} ended with it`);
    await writeFile(join(shop, "d.yaml"), rule("d", "host"));
    expect(await onStore("push", shop, "--canary", "0")).not.toContain("ended with it");
    expect(JSON.parse(await onStore("push", shop, "--canary", "5", "--json"))).toMatchObject({
      replaced: { percent: 20 },
    });
  });

  it("rollback pins, status shows what is held back and by whom, and unpin lets go", async () => {
    await publish("1", "2");
    expect(await onStore("status")).not.toContain("pinned");
    const told = await onStore("rollback", "--why", "checkout is down", "--by", "ann", "--until", "12h");
    expect(told).toContain("pinned until 2");
    await publish("3", "4");
    const status = await onStore("status");
    expect(status).toMatch(/^served {2}\w{12} {2}since .* generation 3, rollback by ann: checkout is down$/m);
    expect(status).toMatch(/^pinned {2}by ann since .* until .*: checkout is down$/m);
    expect(status.match(/generation [45], publish/g)).toHaveLength(2);
    expect(await onStore("history")).toMatch(/^ {6}5 .* not served$/m);
    expect(JSON.parse(await onStore("status", "--json"))).toMatchObject({ pin: { by: "ann" }, held: [{}, {}] });
    expect(await onStore("diff", "SERVED", "NEWEST")).toContain('content: "1" → "4"');
    expect(await onStore("unpin", "--by", "ann")).not.toContain("pinned");
    expect(await onStore("diff", "SERVED", "NEWEST")).toContain("0 changed");
    expect(await onStore("status")).toContain("generation 6, unpin by ann");
  });

  it("status tells of a pin whose time is over, and unpin leads on from it", async () => {
    await publish("1", "2");
    await onStore("rollback", "--by", "ann", "--until", "1ms");
    const status = await onStore("status");
    expect(status).toMatch(/^pinned {2}by ann since .* until .*; that time is over$/m);
    expect(status).toMatch(/^newest {2}\w{12}$/m);
    expect(status).toContain("`portolan unpin` serves the newest version, and so does the next compile of anything");
    expect(await onStore("unpin")).toContain("generation 4 leads to");
    expect(await onStore("status")).not.toContain("pinned");
  });

  it("rollback takes no time for its pin that is over or cannot be read", async () => {
    await publish("1", "2");
    for (const until of ["soon", "2020-01-01T00:00:00Z", "-1h"]) {
      await expect(onStore("rollback", `--until=${until}`)).rejects.toThrow("a time to come");
    }
  });

  it("diff tells people, programs and reviews what changed, where, and out of which object", async () => {
    await publish("90/10", "50/50");
    const text = await onStore("diff");
    expect(text).toContain("~ routes 80  (web)");
    expect(text).toContain('content: "90/10" → "50/50"');
    expect(text).toContain("from VirtualService/default/80");
    expect(JSON.parse(await onStore("diff", "HEAD~1", "HEAD", "--json"))).toMatchObject({
      resources: [{ name: "80" }],
    });
    expect(await onStore("diff", "--markdown")).toContain("```diff");
    await expect(onStore("diff", "nowhere")).rejects.toThrow("no publication nowhere");
  });

  it("canary, promote and abort move a root to a part of the nodes, to all, and back", async () => {
    await publish("1", "2");
    const [first] = (await onStore("history", "--json")).split("\n").slice(-1);
    const { root }: { readonly root: string } = JSON.parse(first ?? "{}");
    expect(await onStore("canary", root, "--percent", "10", "--label", "track=canary")).toContain("for 10 %");
    // What is tried, and by whom; `>` stays with what everybody else gets.
    const [tried, served] = (await onStore("history")).split("\n");
    expect(tried).toMatch(new RegExp(`^ +3 .*canary +${root.slice(0, 12)} +for 10 %, track=canary`));
    expect(served).toMatch(/^> +2 /);
    expect(await onStore("abort")).toMatch(
      /^the canary of \w{12} is over\ngeneration 4 leads to \w{12}(, all the way by \S+)?$/,
    );
    await expect(onStore("promote")).rejects.toThrow("no canary");
    expect(await onStore("canary", "HEAD", "--percent", "10")).toContain("for 10 %, which is what all nodes have");
    await onStore("abort");
    await expect(onStore("canary", root, "--percent", "101")).rejects.toThrow("at most 100");
    await expect(onStore("canary", root, "--label", "x")).rejects.toThrow("key=value");
  });

  it("a root is named by generation, by its digits or by its place, wherever one is named", async () => {
    await publish("1", "2", "3");
    const [, second = "", first = ""] = (await onStore("history", "--json"))
      .split("\n")
      .map((line): string => JSON.parse(line).root);
    for (const name of ["1", first, first.slice(0, 12), first.slice(0, 6).toUpperCase(), "HEAD~2"]) {
      expect(await onStore("canary", name, "--percent", "1")).toContain(`canary ${first.slice(0, 12)}`);
      expect(await onStore("rollback", "--to", second)).toContain(`leads to ${second.slice(0, 12)}`);
      expect(await onStore("rollback", "--to", name === "HEAD~2" ? "1" : name)).toContain(first.slice(0, 12));
      expect(await onStore("diff", name === "HEAD~2" ? "1" : name, "1")).toContain("0 changed");
      await onStore("unpin");
      if (name === "HEAD~2") break;
      // HEAD~2 is meant from a history of three, so it comes last, in a store of its own.
      await rm(storePath(), { recursive: true });
      await publish("1", "2", "3");
    }
    await expect(onStore("rollback", "1", "--to", first)).rejects.toThrow("and not both");
    await expect(onStore("canary", "abcdef", "--percent", "1")).rejects.toThrow("no publication abcdef");
    expect(JSON.parse(await onStore("rollback", "--to", second, "--json"))).toMatchObject({ root: second, pin: {} });
  });

  it("says as JSON what was pushed, in numbers, and not what was compiled", async () => {
    const told = await onStore("push", samples, "--json");
    expect(told.length).toBeLessThan(20_000);
    expect(JSON.parse(told)).toMatchObject({
      kind: "published",
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
      generation: 1,
      classes: expect.arrayContaining([
        expect.objectContaining({ id: expect.any(String), clusters: expect.any(Number) }),
      ]),
      written: { objects: expect.any(Number) },
      diagnostics: expect.any(Array),
    });
  });

  it("status shows the release of Istio that is served, and a rollback brings the one before back", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    expect(await onStore("status")).toMatch(/^as {6}Istio 1\.32$/m);
    await writeFile(join(shop, "portolan.yaml"), 'compat: { release: "1.30" }\n');
    await onStore("push", shop);
    expect(await onStore("status")).toMatch(/^as {6}Istio 1\.30$/m);
    expect(JSON.parse(await onStore("status", "--json"))).toMatchObject({ release: "1.30" });
    await onStore("rollback");
    expect(await onStore("status")).toMatch(/^as {6}Istio 1\.32$/m);
  });

  it("push --no-serve records and moves nobody, until somebody promotes it", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    const served = async (): Promise<unknown> => JSON.parse(await onStore("status", "--json")).served;
    const before = await served();
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    const told = onStoreTelling("push", shop, "--no-serve");
    await told.done;
    expect(told.lines.join("\n")).toContain("it is not served: `portolan promote` gives it to all nodes");
    expect(told.lines.join("\n")).toMatch(/^canary: generation 2 records \w{12}$/m);
    expect(await served()).toBe(before);
    expect(await onStore("status")).toMatch(/^canary {2}\w{12} {2}for nobody$/m);
    await writeFile(join(shop, "b.yaml"), rule("b2", "host"));
    const again = JSON.parse(await onStore("push", shop, "--no-serve", "--json"));
    // The next that is for nobody takes its place: promote gives what was pushed last.
    expect(again.canary.root).toBe(again.version);
    expect(await onStore("canary", "NEWEST", "--percent", "10")).toContain(
      "pinned while the canary runs (`portolan promote` gives it to all nodes, `portolan abort` ends it): ",
    );
    await writeFile(join(shop, "c.yaml"), rule("c", "host"));
    await onStore("push", shop, "--no-serve");
    // A canary that runs keeps its nodes.
    expect(await onStore("status")).toMatch(/^canary {2}\w{12} {2}for 10 %$/m);
    await onStore("promote");
    expect(await served()).not.toBe(before);
    await expect(onStore("push", shop, "--no-serve", "--canary", "1")).rejects.toThrow(
      "use one of --canary and --no-serve",
    );
  });

  it("export and import carry a snapshot, fsck and gc look after the store", async () => {
    await publish("1", "2");
    await onStore("export", join(folder, "carried"));
    expect(await run("import", join(folder, "carried"), "--store", join(folder, "other"))).toContain(
      "published: generation 1",
    );
    await expect(onStore("export", join(folder, "carried"))).rejects.toThrow("is not empty: name a folder that is");
    await expect(onStore("import", join(folder, "nowhere"))).rejects.toThrow("that `portolan export` has filled");
    expect(await onStore("fsck")).toContain("2 publications");
    expect(await onStore("status")).not.toMatch(/^gc/m);
    expect(await onStore("gc")).toContain("0 deleted");
    expect(await onStore("status")).toMatch(/^gc {6}last collected 20\S+Z: 0 deleted, 0 to be deleted later$/m);
    expect(JSON.parse(await onStore("status", "--json"))).toMatchObject({ garbage: { deleted: 0, doomed: 0 } });
  });

  it("recover rebuilds a HEAD that is gone, and says what came of it", async () => {
    await publish("1", "2");
    expect(await onStore("recover")).toContain("needs no recovery");
    await rm(join(storePath(), "HEAD"));
    await rm(join(storePath(), "HEAD#"), { recursive: true });
    await expect(onStore("push", samples)).rejects.toThrow("`portolan recover` rebuilds it");
    await expect(onStore("fsck")).rejects.toThrow("1 problem;");
    expect(await onStore("recover", "--by", "ann")).toMatch(
      /^generation 3 leads to \w{12}, from the newest copy of HEAD$/m,
    );
    expect(await onStore("history")).toMatch(/^> +3 .* recover .*by ann$/m);
    expect(await onStore("fsck")).toContain("3 publications");
  });

  it("fsck --repair writes anew what the sources still say, and names the rest", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    await onStore("push", shop);
    for (const fan of await readdir(join(storePath(), "blobs"))) {
      const [name = ""] = await readdir(join(storePath(), "blobs", fan));
      const text = await readFile(join(storePath(), "blobs", fan, name), "utf8");
      if (!/^\{("format":\d+,)?"compiler":/.test(text))
        await writeFile(join(storePath(), "blobs", fan, name), "rubbish");
    }
    await expect(onStore("fsck")).rejects.toThrow("`--repair` mends what can be");
    expect(await onStore("fsck", "--repair")).toMatch(/^\d+ objects written again$/m);
    expect(await onStore("fsck")).toContain("2 publications");
    for (const name of await readdir(join(storePath(), "sources/main/files"))) {
      await rm(join(storePath(), "sources/main/files", name));
    }
    await expect(onStore("fsck", "--repair")).rejects.toThrow(
      "1 problem; fill the source again: `portolan push FOLDER`",
    );
  });

  it("push compiles a folder into a store, and diff --dir says what another push would change", async () => {
    expect(await onStore("push", samples)).toContain("published: generation 1");
    expect(await onStore("push", samples)).toContain("unchanged: generation 1");
    expect(await onStore("diff", "--dir", samples)).toBe("0 added, 0 removed, 0 changed");
    await mkdir(join(folder, "empty"));
    await expect(run("push", join(folder, "none"), "--store", storePath())).rejects.toThrow(
      /cannot read the folder .*none: there is none; name one that exists, such as samples\/bookshop/,
    );
    await writeFile(join(folder, "empty", "a.yaml"), "a: [");
    await expect(onStore("push", join(folder, "empty"))).rejects.toThrow("no object here is valid");
  });

  it("diff --dir of a folder with an object that is refused compares what is left, and fails", async () => {
    await onStore("push", await folderOf({ "rules.yaml": rule("a", "host"), "more.yaml": rule("b", "host") }));
    const broken = await folderOf({ "rules.yaml": rule("a", "hots"), "more.yaml": rule("b", "host") });
    const told = onStoreTelling("diff", "--dir", broken);
    await expect(told.done).rejects.toThrow(/^\d errors?: refused objects are missing/);
    expect(told.lines.join("\n")).toContain(`error ${join(broken, "rules.yaml")}:`);
  });

  it("push with an error says so at its end, and what is served in the place of what", async () => {
    const shop = await folderOf({ "rules.yaml": rule("a", "host") });
    await onStore("push", shop);
    await writeFile(join(shop, "rules.yaml"), rule("a", "hots"));
    const told = onStoreTelling("push", shop);
    await expect(told.done).rejects.toThrow("1 error; the last valid form of 1 refused object is still served");
    expect(told.lines.join("\n")).toMatch(
      /warning \S+\/rules.yaml:4 DestinationRule shop\/a: its form before is still served/,
    );
    expect(told.lines.join("\n")).toContain("published: generation 2");
    await expect(onStore("push", shop)).rejects.toThrow("1 error");
    const other = await folderOf({ "b.yaml": rule("b", "host") });
    await onStore("push", other, "--source", "b");
  });

  it("push that would close something prints all errors and warnings of the folder, then refuses", async () => {
    const policy = `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: deny, namespace: shop }
spec: { action: DENIY }
`;
    const shop = await folderOf({ "a.yaml": rule("a", "hots"), "b.yaml": rule("b", "host"), "deny.yaml": policy });
    const { code, out, err } = await runPortolan("push", shop, "--store", storePath());
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.split("\n").filter((line) => !line.startsWith("  hint:"))).toEqual([
      expect.stringMatching(`^error ${shop}/a.yaml:4 DestinationRule shop/a: spec.hots: .*unknown-field]$`),
      expect.stringMatching(`^error ${shop}/deny.yaml:4 AuthorizationPolicy shop/deny: spec.action: .*invalid-value]$`),
      expect.stringMatching(
        `^error ${shop}/deny.yaml:1 AuthorizationPolicy shop/deny: .* are denied .security-closed]$`,
      ),
      expect.stringMatching(`^warning ${shop}/b.yaml:4 DestinationRule shop/b: spec.host: .*IST0174]$`),
      expect.stringMatching("^portolan: source main was left as it was"),
    ]);
  });

  it("push fills one source of several, and none with nothing unless that is meant", async () => {
    const [shop, more, empty] = [
      await folderOf({ "a.yaml": rule("a", "host") }),
      await folderOf({ "b.yaml": rule("b", "host") }),
      await folderOf({ "empty.txt": "" }),
    ];
    await expect(onStore("push", shop, "--canary", "10")).rejects.toThrow("push without --canary first");
    expect(await filesIn(storePath())).toEqual([]);
    await onStore("push", shop);
    expect(await onStore("push", more, "--source", "b")).toContain("published: generation 2");
    expect(await onStore("push", shop)).toContain("unchanged: generation 2");
    await expect(onStore("push", empty)).rejects.toMatchObject({ diagnostics: [{ code: "empty-source" }] });
    expect(await onStore("push", shop)).toContain("unchanged: generation 2");
    expect(await onStore("push", empty, "--allow-empty")).toContain("published: generation 3");
  });

  it("push --url prints why a compile function refuses, and what is wrong with what was sent", async () => {
    vi.stubEnv("PORTOLAN_WEBHOOK_SECRET", "s");
    const options = { store: memoryStore(), secrets: { ...noSecrets, operators: ["s"] }, sources: ["main"] };
    const refused: Diagnostic = {
      code: "resource-refused",
      severity: "error",
      origin: fileOrigin("a.yaml", 3),
      path: [],
      message: "no",
      hint: "",
    };
    const recompile = () => Promise.reject(new PortolanError("the compiled world is not whole", [refused]));
    const server = await serveHttp(webhookApp({ ...options, recompile }), 0);
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    const push = (...more: readonly string[]) => runPortolan("push", shop, "--url", server.url, ...more);
    const target = `portolan: ${server.url}/sources/main answers 422`;
    expect((await push("--canary", "10")).err).toBe(
      `${target}: nothing was published yet that a canary could differ from; push without --canary first`,
    );
    const lines = (await push()).err.split("\n");
    expect(lines).toEqual([
      `error ${join(shop, "a.yaml")}:3: no [resource-refused]`,
      expect.stringMatching(/^warning .*a\.yaml:4 DestinationRule shop\/a: spec\.host: no service .*\[IST0174\]$/),
      `${target}: the compiled world is not whole`,
    ]);
    await server.close();
    vi.unstubAllEnvs();
  });

  it("push --canary tries a folder on a part of the nodes", async () => {
    const shop = await folderOf({ "a.yaml": rule("a", "host") });
    await onStore("push", shop);
    await writeFile(join(shop, "b.yaml"), rule("b", "host"));
    const tried = onStoreTelling("push", shop, "--canary", "10", "--by", "ci");
    await tried.done;
    expect(tried.lines.join("\n")).toMatch(
      /^canary: generation 2 leads to \w{12} for 10 %\nthe other nodes keep what they have: `portolan promote` gives/m,
    );
    expect(await onStore("status")).toMatch(
      /^`portolan diff SERVED (\w{12})` shows .*, `portolan promote` gives it to all nodes, `portolan abort` ends it$/m,
    );
    expect(await onStore("status")).not.toContain("unpin");
    expect(await onStore("push", shop)).toMatch(
      /^pinned by ci: a canary is tried: .* served to the canary's nodes alone until `portolan promote`; /m,
    );
    const unserved = onStoreTelling("push", shop, "--no-serve");
    await unserved.done;
    expect(unserved.lines.join("\n")).toMatch(/^the canary of this very version continues for 10 %: /m);
    await writeFile(join(shop, "c.yaml"), rule("c", "host"));
    expect(await onStore("push", shop)).toMatch(
      /not served until `portolan unpin`, after `portolan promote` or `portolan abort` has ended the canary; /,
    );
    expect(await onStore("status")).toMatch(/^canary {2}\w{12} {2}for 10 %$/m);
    await expect(onStore("push", shop, "--label", "a=b")).rejects.toThrow("--label needs --canary");
    const canary = JSON.parse(await onStore("status", "--json")).canary.root;
    await expect(onStore("rollback", "--to", canary)).rejects.toThrow("that is what the canary has");
    expect(await onStore("rollback", "0")).toContain("is over");
  });

  it("diff shows what a changed port changes for the proxies of a class that has another id for it", async () => {
    const shop = join(folder, "shop");
    await cp(new URL("../../../samples/bookshop", import.meta.url).pathname, shop, { recursive: true });
    await onStore("push", shop);
    const text = await readFile(join(shop, "catalog.yaml"), "utf8");
    await writeFile(join(shop, "catalog.yaml"), text.replaceAll("port: 9080", "port: 9081"));
    const told = await onStore("diff", "--dir", shop);
    expect(told).toMatch(/^~ class (\S+) → \S+ {2}\(.*\)$/m);
    expect(told).toContain("+ clusters outbound|9081||catalog.bookshop.svc.cluster.local");
    expect(told).not.toMatch(/come or go/);
    const heads = told.split("\n").filter((line) => /^[-+~] /.test(line));
    expect(heads).toEqual([...new Set(heads)]);
  });

  it("diff of a store with one publication says what it can be compared with", async () => {
    await publish("1");
    await expect(onStore("diff")).rejects.toThrow(
      "there is no publication HEAD~1; there is one only; `portolan diff --dir FOLDER` compares it with a folder",
    );
  });

  it("diff names the line of each object, in a folder and in what was published from one", async () => {
    const shop = join(folder, "shop");
    await cp(new URL("../../../samples/bookshop", import.meta.url).pathname, shop, { recursive: true });
    await onStore("push", shop);
    const text = await readFile(join(shop, "catalog.yaml"), "utf8");
    await writeFile(join(shop, "catalog.yaml"), `# One line more.\n${text.replace("weight: 90", "weight: 85")}`);
    // An object begins with the line above its kind; everything moved down by one.
    const line = text.split("\n").indexOf("kind: VirtualService") + 1;
    const place = `VirtualService/bookshop/catalog (catalog.yaml:${line})`;
    expect(await onStore("diff", "--dir", shop)).toContain(place);
    await onStore("push", shop);
    expect(await onStore("diff", "1", "2")).toContain(place);
    // Seen from the later side, the lines are those of the later text.
    expect(await onStore("diff", "2", "1")).toContain(`(catalog.yaml:${line - 1})`);
  });
});
