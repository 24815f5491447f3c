import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actorName } from "../../../lib/cli/actor.ts";
import { runCli } from "../../../lib/cli/program.ts";
import { eventually } from "../../e2e/envoy.ts";
import { program } from "../../programs.ts";

const cli = await program("cli");
const sample = fileURLToPath(new URL("../../../samples/bookshop", import.meta.url));

let folder = "";
let url = "";
let told = "";
let end: () => Promise<unknown> = async () => {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-running-"));
  await cp(sample, join(folder, "mesh"), { recursive: true });
  const args = [cli, "dev", "mesh", "--port", "0", "--store", "store"];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.on("data", (data) => {
    told += data;
  });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  end = async () => {
    child.kill("SIGTERM");
    return exit;
  };
  await eventually(
    async () => told,
    (text) => /^serving +http\S+/m.test(text),
    30_000,
  );
  url = /^serving +(http[^,]+)/m.exec(told)?.[1] ?? "";
}, 40_000);
afterAll(async () => {
  expect(await end()).toBe(0);
  await rm(folder, { recursive: true, force: true });
});

async function poll(id: string, metadata: object = {}): Promise<number> {
  const body = JSON.stringify({ node: { id, metadata } });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v3/discovery:clusters`, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

const says = (pattern: RegExp) =>
  eventually(
    async () => told,
    (text) => pattern.test(text),
    20_000,
  );

async function status(store = join(folder, "store")): Promise<string> {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  await runCli(["node", "portolan", "status", "--store", store, "--server", url], terminal);
  return lines.join("\n");
}

const gateway = "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local";

describe("portolan dev", () => {
  it("follows a request for its console, and says which line of which file decided each step", async () => {
    const asked = new URLSearchParams({
      node: "istio-ingressgateway-1.bookshop",
      url: "http://shop.example.com:10080/catalog",
    });
    const { decisions, ways } = Object(await (await fetch(`${url}/api/trace?${asked}`)).json());
    const lineOf = async (at: string) => {
      const [file = "", line = "0"] = at.split(":");
      return (await readFile(join(folder, "mesh", file), "utf8")).split("\n")[Number(line) - 1];
    };
    const causes = (step: string, of: readonly { step: string; causes: readonly object[] }[]) =>
      of.find((one) => one.step === step)?.causes;
    const [host] = Object(causes("virtual host", decisions));
    expect(host.object).toBe("Gateway/bookshop/bookshop");
    expect(await lineOf(host.at)).toContain("port:");
    const [route] = Object(causes("route", ways[0].decisions));
    expect(route.object).toBe("VirtualService/bookshop/catalog");
    expect(await lineOf(route.at)).toContain("uri");
    const rule = Object(causes("cluster", ways[0].decisions)).find(({ object = "" }) =>
      object.startsWith("DestinationRule/"),
    );
    expect(await lineOf(rule.at)).toContain("name: v1");
  });

  it("names in the history who ran it, and on which folder", async () => {
    const { entries } = Object(await (await fetch(`${url}/api/history`)).json());
    expect(entries[0]).toMatchObject({ reason: "publish", by: actorName(), why: "portolan dev mesh" });
  });

  it("prints who is in a class, and counts its endpoints", () => {
    expect(told).toMatch(
      /\n {10}\S+ {2}clusters \d+, endpoints [1-9]\d*, listeners \d+, routes \d+\n {12}istio-ingressgateway-1\.bookshop\n/,
    );
    expect(told).toMatch(/\n {12}storefront-1\.bookshop\n/);
  });

  it("tells once of a node that it does not know, and what to do; status lists it", async () => {
    expect(await poll("envoy-of-mine")).toBe(404);
    expect(await poll("envoy-of-mine")).toBe(404);
    await says(/^unknown {3}node "envoy-of-mine" is not known[^\n]*\n {10}hint: start it with what/m);
    expect(told.match(/^unknown .*envoy-of-mine/gm)).toHaveLength(1);
    expect(await status()).toMatch(/^unknown +node "envoy-of-mine"/m);
  });

  it("tells of a refusal as text, with its suspects and where they stand", async () => {
    for (let i = 0; i < 3; i += 1) expect(await poll(gateway)).toBe(200);
    await says(/^refused {3}router\S+ refuses clusters of version \w{12}, and has none; see its log for the reason$/m);
    await says(
      /^ {10}suspect: outbound\|9080\|v1\|catalog\.\S+, from DestinationRule\/bookshop\/catalog, Service\/bookshop\/catalog \(catalog\.yaml:\d+, catalog\.yaml:1\)$/m,
    );
    expect(await status()).toMatch(/^refused +router/m);
  });

  it("has nothing to say to a status of another store than its own", async () => {
    const other = join(folder, "other");
    const terminal = { out: () => {}, err: () => {}, colours: picocolors.createColors(false) };
    await runCli(["node", "portolan", "push", join(folder, "mesh"), "--store", other, "--why", "another"], terminal);
    expect(await status(other)).toBe(`portolan: ${url} serves another store than this one: name its own with --store`);
  });

  it("makes its store anew when somebody deletes it, on the same port", async () => {
    await rm(join(folder, "store"), { recursive: true });
    await says(/^gone +store was deleted; it is created again\n/m);
    await eventually(
      async () => poll(gateway).catch(() => 0),
      (code) => code === 200,
      20_000,
    );
    expect(await status()).toContain("generation 1, publish");
  }, 60_000);
});
