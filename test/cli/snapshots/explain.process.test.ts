import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerHistory } from "../../../lib/cli/history.ts";
import { runPortolan } from "../run-portolan.ts";
import { registerSnapshots } from "./snapshot-commands.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
let folder = "";

/** Runs a command line on the store. @returns what it wrote to standard output */
async function run(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  await runTelling(lines, args);
  return lines.join("\n");
}

/** The same of one that fails after it has told something. @returns that, and why it failed */
async function runRefused(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  await runTelling(lines, args).then(
    () => expect.unreachable("was not refused"),
    (cause: Error) => lines.push(cause.message),
  );
  return lines.join("\n");
}

async function runTelling(lines: string[], args: readonly string[]): Promise<void> {
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, colours: picocolors.createColors(false) };
  const program = new Command("portolan").exitOverride().configureOutput({ writeErr: () => {} });
  registerHistory(program, terminal);
  registerSnapshots(program, terminal);
  await program.parseAsync(["node", "portolan", ...args, "--store", join(folder, "store")]);
}

const mesh = () => join(folder, "mesh");
const node = ["--node", "storefront-1.bookshop"];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-explain-"));
  await cp(samples, mesh(), { recursive: true });
  await run("push", mesh());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** 1-based line of a text in a file of the mesh. */
async function lineOf(file: string, text: string): Promise<number> {
  const lines = (await readFile(join(mesh(), file), "utf8")).split("\n");
  return lines.findIndex((line) => line.includes(text)) + 1;
}

describe("portolan explain", () => {
  it("leads from a route of a table to file, line and rule", async () => {
    const told = await run("explain", "9080", ...node, "--host", "reviews.bookshop.svc.cluster.local", "--route", "0");
    const rule = await lineOf("reviews.yaml", "- route:");
    expect(told).toContain(`reviews.yaml:${rule} VirtualService/bookshop/reviews spec.http[0]`);
    expect(told).toContain("from reviews.yaml:1 Service/bookshop/reviews");
    expect(told).not.toContain("catalog");
  });

  it("takes no route without its virtual host", async () => {
    await expect(run("explain", "9080", ...node, "--route", "0")).rejects.toThrow("name it with --host");
  });

  it("says of a route that is nobody's rule that it is the default", async () => {
    const told = await run("explain", "9080", ...node, "--host", "catalog");
    expect(told).toContain("no VirtualService applies to this service");
    expect(told).toMatch(/route 0 default: prefix \/ → outbound\|9080\|\|catalog\S+\n\s+default route/);
  });

  it("leads from a cluster to the subset and the port that it is", async () => {
    const told = await run("explain", "clusters/outbound|9080|v1|reviews.bookshop.svc.cluster.local", ...node);
    const subset = await lineOf("reviews.yaml", "- name: v1");
    expect(told).toContain(`reviews.yaml:${subset} DestinationRule/bookshop/reviews spec.subsets[0]`);
    expect(told).toContain("Service/bookshop/reviews spec.ports[0]");
    expect(told).not.toContain("endpoints");
  });

  it("leads from a gateway's host to the server of the Gateway", async () => {
    const gateway = ["--node", "istio-ingressgateway-1.bookshop"];
    const { resources } = JSON.parse(await run("explain", "routes/http.10080", ...gateway, "--json"));
    const [host] = resources[0].virtualHosts;
    expect(host.causes).toContainEqual(expect.objectContaining({ path: ["spec", "servers", 0] }));
    expect(host.routes[0].cause).toMatchObject({
      object: expect.stringMatching(/^VirtualService\//),
      at: expect.stringMatching(/\.yaml:\d+$/),
    });
  });

  it("is asked by the id of a class, too, and says all of it in JSON", async () => {
    const { classId } = JSON.parse(await run("explain", "9080", ...node, "--json"));
    const told = JSON.parse(await run("explain", "9080", "--node", classId, "--shape", "poll", "--json"));
    expect(told).toMatchObject({ classId, shape: "poll", resources: [{ type: "routes", name: "9080" }] });
    expect(told.resources[0].virtualHosts.map(({ name }: { name: string }) => name)).toContain("allow_any");
  });

  it.each([
    [["explain", "9080", "--node", "storefrnt-1.bookshop"], "did you mean storefront-1.bookshop?"],
    [["explain", "9080", "--node", "10.9.9.9"], /this version has the nodes \S+, \S+, \S+ and \d+ more/],
    [["explain", "nothing-at-all", ...node], /; `portolan proxy-config all \S+` lists what it has/],
    [["explain", "908", ...node], "did you mean 9080"],
    [["explain", "reviews", ...node], "outbound|9080|v1|reviews.bookshop.svc.cluster.local"],
    [["explain", "9080", ...node, "--host", "reviws"], "did you mean reviews"],
    [["explain", "9080", ...node, "--host", "reviews", "--route", "7"], "has no route 7; it has 1, counted from 0"],
    [["explain", "9080", ...node, "--root", "99"], "there is no publication 99"],
    [["impact", "review.yaml"], "did you mean reviews.yaml"],
    [["impact", "VirtualService/bookshop/review"], "VirtualService/bookshop/reviews"],
    [["impact", "reviews.yaml", "--edit", "/nowhere.yaml"], "/nowhere.yaml cannot be read"],
    [["impact", "Service/bookshop/reviews", "--edit", "x"], "name the file that contains the object"],
  ])("names what is nearest where nothing fits: %j", async (args, words) => {
    await expect(run(...args)).rejects.toThrow(words);
  });
});

describe("a version that was imported", () => {
  it("is explained without its sources, which nobody says to have been here", async () => {
    const [carried, other] = [join(folder, "carried"), join(folder, "other")];
    await run("export", carried);
    await runPortolan("import", carried, "--store", other);
    const told = await runPortolan("explain", "9080", ...node, "--store", other);
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining("virtual-service/reviews") });
    const held = "what source main held then is not in this store: it was collected, or the version was imported";
    expect(told.err).toBe(`${held}; objects are named without file and line, routes without their rules`);
    expect(await runPortolan("impact", "reviews.yaml", "--store", other)).toMatchObject({
      code: 1,
      err: `portolan: ${held}`,
    });
  });
});

describe("portolan impact", () => {
  it("names the objects of a file, what was made from them, and for which classes", async () => {
    const told = JSON.parse(await run("impact", "samples/bookshop/reviews.yaml", "--json"));
    expect(told.objects.map(({ object }: { object: string }) => object)).toContain("VirtualService/bookshop/reviews");
    const lines = told.objects.map(({ at }: { at: string }) => Number(at.split(":")[1]));
    expect(lines).toEqual(lines.toSorted((a: number, b: number) => a - b));
    const named = (type: string) =>
      told.resources.filter((one: { type: string }) => one.type === type).map(({ name }: { name: string }) => name);
    expect(named("routes")).toEqual(expect.arrayContaining(["9080"]));
    expect(named("clusters")).toContain("outbound|9080|v1|reviews.bookshop.svc.cluster.local");
    expect(named("clusters")).not.toContain("outbound|9080||catalog.bookshop.svc.cluster.local");
    const nodes = told.classes.flatMap((one: { nodes: readonly string[] }) => one.nodes);
    expect(nodes).toContain("storefront-1.bookshop");
  });

  it("follows endpoints to what holds them", async () => {
    const told = JSON.parse(await run("impact", "EndpointSlice/bookshop/reviews-1", "--json"));
    const touched = told.resources.map(
      ({ type, shapes }: { type: string; shapes: readonly string[] }) => `${type} ${shapes}`,
    );
    expect(new Set(touched)).toEqual(new Set(["endpoints stream", "clusters poll"]));
  });

  it("says what an edit of a file would change, and changes nothing", async () => {
    const edited = join(folder, "edited.yaml");
    const text = await readFile(join(mesh(), "reviews.yaml"), "utf8");
    await writeFile(edited, text.replace("timeout: 2s", "timeout: 3s"));
    const before = await run("history", "--json");
    const told = await run("impact", "reviews.yaml", "--edit", edited);
    expect(told).toContain('2s" → "3s"');
    expect(told).toContain("VirtualService/bookshop/reviews (reviews.yaml:");
    expect(told).toContain("0 added, 0 removed");
    expect(await run("impact", "reviews.yaml", "--edit", join(mesh(), "reviews.yaml"))).toBe(
      "0 added, 0 removed, 0 changed",
    );
    expect(await run("history", "--json")).toBe(before);
  });

  it("finds and edits services that came after configuration was pinned", async () => {
    const [own, store] = [join(folder, "pinned"), join(folder, "pinned-store")];
    await cp(samples, own, { recursive: true });
    const service = (ip: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: late, namespace: bookshop}\nspec: {clusterIP: ${ip}, ports: [{name: http, port: 80}]}\n`;
    const onStore = async (...args: readonly string[]) => {
      const { code, out, err } = await runPortolan(...args, "--store", store);
      expect({ args, code, err }).toEqual({ args, code: 0, err });
      return out;
    };
    await onStore("push", own);
    const reviews = join(own, "reviews.yaml");
    await writeFile(reviews, (await readFile(reviews, "utf8")).replace("timeout: 2s", "timeout: 3s"));
    await onStore("push", own);
    await onStore("rollback", "--why", "held");
    await writeFile(join(own, "late.yaml"), service("10.9.9.9"));
    await onStore("push", own);
    expect(await onStore("impact", "late.yaml", "--root", "HEAD")).toContain("late.yaml:1 Service/bookshop/late");
    const edited = join(folder, "late-edited.yaml");
    await writeFile(edited, service("10.9.9.8"));
    expect(await onStore("impact", "late.yaml", "--root", "HEAD", "--edit", edited)).toContain("10.9.9.8");
  });

  it("keeps, as a push would, the last valid form of an object that the edit breaks", async () => {
    const edited = join(folder, "broken.yaml");
    const text = await readFile(join(mesh(), "reviews.yaml"), "utf8");
    await writeFile(edited, text.replace("timeout: 2s", "timeout: soon"));
    expect(await runRefused("impact", "reviews.yaml", "--edit", edited)).toBe(refusedEdit);
  });
});

const refusedEdit =
  "0 added, 0 removed, 0 changed\n1 error in what reviews.yaml would say; what is refused changes nothing";

describe("portolan impact of an earlier root", () => {
  let text = "";
  beforeAll(async () => {
    text = await readFile(join(mesh(), "reviews.yaml"), "utf8");
    await writeFile(join(mesh(), "reviews.yaml"), text.replace("timeout: 2s", "timeout: 7s"));
    await run("push", mesh());
  });
  afterAll(async () => {
    await writeFile(join(mesh(), "reviews.yaml"), text);
    await run("push", mesh());
  });

  it("keeps what was last valid then, and not what has been valid since", async () => {
    const edited = join(folder, "broken-then.yaml");
    await writeFile(edited, text.replace("timeout: 2s", "timeout: soon"));
    const now = await runRefused("impact", "reviews.yaml", "--edit", edited);
    const then = await runRefused("impact", "reviews.yaml", "--edit", edited, "--root", "HEAD~1");
    expect([now, then]).toEqual([refusedEdit, refusedEdit]);
  });
});

describe("an object that is refused, of which the last valid form is served", () => {
  const broken = () => join(mesh(), "reviews.yaml");
  let text = "";
  beforeAll(async () => {
    text = await readFile(broken(), "utf8");
    await writeFile(broken(), `# somebody was here\n${text.replace("timeout: 2s", "timeout: soon")}`);
    await expect(run("push", mesh())).rejects.toThrow("the last valid form of 1 refused object is still served");
  });
  afterAll(async () => {
    await writeFile(broken(), text);
    await run("push", mesh());
  });

  it("is explained by where it stood when it was valid", async () => {
    const told = await run("explain", "9080", ...node, "--host", "reviews.bookshop.svc.cluster.local", "--route", "0");
    const before = text.split("\n").findIndex((line) => line.includes("- route:")) + 1;
    expect(told).toContain(
      `reviews.yaml:${before} (as it was last valid) VirtualService/bookshop/reviews spec.http[0]`,
    );
    expect(told).toContain("from reviews.yaml:2 Service/bookshop/reviews");
  });

  it("is named by status, with file, line and reason", async () => {
    const { errors } = JSON.parse(await run("status", "--json"));
    const line = await lineOf("reviews.yaml", "timeout: soon");
    expect(errors).toEqual([
      expect.objectContaining({
        severity: "error",
        origin: expect.objectContaining({ file: "reviews.yaml", line }),
        path: ["spec", "http", 0, "timeout"],
        instead: "last-valid",
      }),
    ]);
    expect(await run("status")).toMatch(
      /^errors {2}1 in the newest version: 1 in place of which the last valid form is served$/m,
    );
  });

  it("is told by status from what is left out, since no valid form of it ever was", async () => {
    const [fresh, unreadable] = [join(mesh(), "fresh.yaml"), join(mesh(), "namespace.yaml")];
    const namespace = await readFile(unreadable, "utf8");
    await writeFile(fresh, text.replaceAll("name: reviews", "name: fresh").replace("timeout: 2s", "timeout: soon"));
    await writeFile(unreadable, "a: [");
    await expect(run("push", mesh())).rejects.toThrow("3 errors");
    const { errors } = JSON.parse(await run("status", "--json"));
    const instead = errors.map((one: { origin: { file: string }; instead: string }) => [one.origin.file, one.instead]);
    expect(Object.fromEntries(instead)).toEqual({
      "fresh.yaml": "nothing",
      "namespace.yaml": "last-valid",
      "reviews.yaml": "last-valid",
    });
    const { err } = await runPortolan("status", "--store", join(folder, "store"));
    expect(err).toMatch(/fresh\.yaml:\d+ .*; it is left out \[/);
    expect(err).toMatch(/namespace\.yaml:\d+: .*; what it held before is still served \[/);
    expect(err).toMatch(/reviews\.yaml:\d+ .*; its last valid form is still served \[/);
    await writeFile(unreadable, namespace);
    await rm(fresh);
  });

  it.each(["reviews.yaml", "VirtualService/bookshop/reviews"])("is among what %s had a part in", async (named) => {
    const { objects, resources } = JSON.parse(await run("impact", named, "--json"));
    expect(objects).toContainEqual({
      object: "VirtualService/bookshop/reviews",
      at: expect.stringMatching(/^reviews\.yaml:\d+ \(as it was last valid\)$/),
    });
    expect(resources).toContainEqual(
      expect.objectContaining({ name: "9080", from: expect.arrayContaining(["VirtualService/bookshop/reviews"]) }),
    );
  });
});
