import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { frontApp } from "../../../lib/front/app.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { type RecordedNodes, recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { moveHead } from "../../../lib/snapshot/head/move-head.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { openStore } from "../../../lib/storage/open-store.ts";
import { nodeOf, pollBody, type TestFront, testFront } from "../../front/fixtures.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { runPortolan } from "../run-portolan.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Fixture {
  readonly test: TestFront;
  readonly nodes: RecordedNodes;
  readonly folder: string;
  readonly url: string;
}

/** A front over a folder, which says in it what its nodes have. */
async function fixture(): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-ps-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const store = await openStore(folder, {});
  const options = { front: "one", now: Date.now, everyMs: 3_600_000, limits, onError: () => {} };
  const nodes = recordedNodes(store, options);
  const test = testFront({ store, nodes });
  const server = await serveHttp(frontApp(test.front), 0);
  closing.push(nodes.close, () => test.front.close(), server.close);
  return { test, nodes, folder, url: server.url };
}

const podAndService = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: default, labels: { app: web } }
spec: { containers: [{ name: istio-proxy, image: example.invalid/proxy:1, args: [proxy, sidecar] }] }
status: { phase: Running, podIP: 10.1.0.3, podIPs: [{ ip: 10.1.0.3 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { clusterIP: 10.2.0.1, selector: { app: web }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`;
const rule = (connections: number) => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: web, namespace: default }
spec: { host: web, trafficPolicy: { connectionPool: { tcp: { maxConnections: ${connections} } } } }
`;

const run = (...args: readonly string[]) => runPortolan("proxy-status", ...args);

const world = (content: string) =>
  worldOf(
    { web: { clusters: { a: content }, listeners: { l: "1" } } },
    { nodes: ["web", "cart"].map((name) => ({ keys: [`${name}.default`], classId: "web" })) },
  );

/** Polls, for clusters where nothing else is said, and gives the version of the answer. */
async function polled(
  { test }: Fixture,
  name: string,
  version?: string,
  labels: Readonly<Record<string, string>> = {},
  type: ResourceType = "clusters",
) {
  const body = pollBody(type, nodeOf(name, labels), version === undefined ? {} : { version });
  const response = await test.poll(type, body);
  if (response.status === 304) return version ?? "";
  const { version_info }: { readonly version_info: string } = Object(await response.json());
  return version_info;
}

const heads = ["NAME", "CLUSTER", "CDS", "LDS", "EDS", "RDS", "ECDS", "SDS", "SEEN", "TRANSPORT"];
const rowOf = (text: string, name: string) =>
  text
    .split("\n")
    .find((line) => line.startsWith(name))
    ?.split(/ {2,}/);

describe("portolan proxy-status", () => {
  it("says that a proxy is synced, stale once something else is in force, and what it was never sent", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    expect(await run("--server", here.url)).toMatchObject({ code: 0, out: "no proxy has asked this front" });
    const first = await polled(here, "web");
    await polled(here, "web", first);
    const { out } = await run("--server", here.url);
    expect(rowOf(out, "NAME")).toEqual(heads);
    expect(rowOf(out, "web.default")).toEqual([
      "web.default",
      "-",
      "SYNCED",
      "NOT SENT",
      "IGNORED",
      "IGNORED",
      "IGNORED",
      "IGNORED",
      "connected",
      "poll",
    ]);
    await here.test.publish(world("2"));
    expect(rowOf((await run("--server", here.url)).out, "web.default")?.[2]).toBe("STALE");
    await polled(here, "web", await polled(here, "web", first));
    expect(rowOf((await run("--server", here.url)).out, "web.default")?.[2]).toBe("SYNCED");
  });

  it("has a column for tables of names where a proxy has one, or is owed one", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    await polled(here, "web", await polled(here, "web"));
    const names = { "names-a": "1" };
    const withNames = worldOf({ web: { clusters: { a: "1" }, listeners: { l: "1" }, name_tables: names } });
    await here.test.publish(withNames);
    const owed = (await run("--server", here.url)).out;
    expect(rowOf(owed, "NAME")).toEqual(heads.toSpliced(8, 0, "NDS"));
    expect(rowOf(owed, "web.default")?.[8]).toBe("NOT SENT");
    const version = await polled(here, "web", undefined, {}, "name_tables");
    await polled(here, "web", version, {}, "name_tables");
    expect(rowOf((await run("--server", here.url)).out, "web.default")?.[8]).toBe("SYNCED");
  });

  it("says the same from the store alone, of proxies that fronts have written of", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    expect((await run("--store", here.folder)).out).toBe("no server has reported a proxy to this store");
    await polled(here, "web", await polled(here, "web"));
    await here.nodes.write();
    expect(rowOf((await run("--store", here.folder)).out, "web.default")?.[2]).toBe("SYNCED");
    await here.test.publish(world("2"));
    expect(rowOf((await run("--store", here.folder)).out, "web.default")?.[2]).toBe("STALE");
    expect(await run("--store", here.folder, "--server", here.url)).toMatchObject({ code: 2 });
  });

  it("counts what a refusal keeps as refused, in the proxy's words, until that is in force no more", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    const first = await polled(here, "web");
    await polled(here, "web", first);
    await here.test.publish(world("2"));
    for (let i = 0; i < 3; i += 1) await polled(here, "web", first);
    const { out } = await run("web", "--server", here.url);
    expect(rowOf(out, "web.default")?.[2]).toBe("REFUSED");
    expect(out).toMatch(
      new RegExp(
        `web\\.default refuses clusters \\w{12} since .*, and keeps ${first.slice(0, 12)}; see its log for the reason`,
      ),
    );
    await here.test.publish(world("1"));
    expect((await run("--server", here.url)).out).not.toContain("REFUSED");
  });

  it("names the objects behind a refusal by file and line from the store alone, and trace --server says that it is refused", async () => {
    const here = await fixture();
    const source = await mkdtemp(join(tmpdir(), "portolan-ps-"));
    closing.push(() => rm(source, { recursive: true, force: true }));
    await writeFile(join(source, "world.yaml"), podAndService);
    await writeFile(join(source, "rule.yaml"), rule(1));
    const push = () => runPortolan("push", source, "--store", here.folder);
    expect(await push()).toMatchObject({ code: 0 });
    const first = await polled(here, "web");
    await polled(here, "web", first);
    await writeFile(join(source, "rule.yaml"), `# moved by a line\n${rule(2)}`);
    expect(await push()).toMatchObject({ code: 0 });
    for (let i = 0; i < 3; i += 1) await polled(here, "web", first);
    await here.nodes.write();
    const { out } = await run("--store", here.folder);
    expect(out).toMatch(/web\.default refuses clusters \w{12} since .*, and keeps /);
    expect(out).toMatch(
      /suspect: outbound\|80\|\|web\.default\.svc\.cluster\.local, from .*DestinationRule\/default\/web.*\(.*rule\.yaml:2/,
    );
    const traced = await runPortolan("trace", "web.default", "http://web/", "--server", here.url);
    expect(traced.err).toMatch(
      /^warning web\.default refuses clusters .*\n(?:warning .*\n)*.*the proxy still runs what it has accepted/,
    );
    const json = await runPortolan("trace", "web.default", "http://web/", "--server", here.url, "--json");
    expect(JSON.parse(json.out).refused[0]).toMatch(/^web\.default refuses clusters/);
  });

  it("tells a refusal of the very first answer, which leaves a proxy with nothing", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    const { id: nodeId } = nodeOf("web");
    const { version } = await here.test.front.served({ nodeId, labels: () => ({}) }).then(async (served) => {
      if (served === undefined) throw new Error("something was published");
      return here.test.front.reader.tree(
        served.loaded.root,
        "clusters",
        served.loaded.classes.get("web")?.stream.clusters,
      );
    });
    here.test.front.onRefusal({
      nodeId,
      type: "clusters",
      name: "",
      refused: version.slice(0, 32),
      kept: undefined,
      sinceMs: 0,
      classId: "web",
      root: "",
      error: "no such\n filter",
    });
    const { out } = await run("--server", here.url);
    expect(rowOf(out, "web.default")?.[2]).toBe("REFUSED");
    expect(out).toContain("and has none: no such filter");
  });

  it("holds a proxy in a canary against the canary, also one that is in it by its labels", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    const base = await readHead(here.test.store);
    const root = base?.head.steps.at(-1)?.root ?? "";
    await polled(here, "web", await polled(here, "web"));
    await here.test.publish(world("2"));
    const { head } = (await readHead(here.test.store)) ?? {};
    const canary = { root, percent: 0, labels: { track: "old" } };
    const moved = { steps: head?.steps ?? [], canary, reason: "canary" } as const;
    await moveHead(here.test.store, await readHead(here.test.store), moved, Date.now());
    const labels = { track: "old" };
    const old = await polled(here, "cart", undefined, labels);
    await polled(here, "cart", old, labels);
    const { out } = await run("--server", here.url);
    expect(rowOf(out, "web.default")?.[2]).toBe("STALE");
    expect(rowOf(out, "cart.default")?.[2]).toBe("SYNCED");
  });

  it("says when a name is nobody's, and when nobody answers", async () => {
    const here = await fixture();
    await here.test.publish(world("1"));
    expect(await run("nope", "--server", here.url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no proxy whose name holds "nope" has asked this front'),
    });
    expect(await run("--server", "http://127.0.0.1:9")).toMatchObject({
      code: 1,
      err: expect.stringContaining("http://127.0.0.1:9 cannot be reached"),
    });
    expect(await run("--server", here.url, "--token-file", "/nowhere/token")).toMatchObject({
      code: 1,
      err: expect.stringContaining("/nowhere/token cannot be read"),
    });
  });
});
