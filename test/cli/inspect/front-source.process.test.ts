import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeCauses } from "../../../lib/cli/inspect/store-causes.ts";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import type { Traced } from "../../../lib/front/api/schema/trace.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { createFront } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { tracer } from "../../../lib/front/tracing/tracer.ts";
import { makeSigningKey, publicPart } from "../../../lib/snapshot/head/signing-keys.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { nowMs, tokenOf } from "../../front/auth/keys.ts";
import { runPortolan as run } from "../run-portolan.ts";

const samples = new URL("../../../samples/bookshop", import.meta.url).pathname;
const gateway = "istio-ingressgateway-1.bookshop";

const store = memoryStore();
const closing: (() => unknown)[] = [];
let [url, guarded, folder] = ["", "", ""];

beforeAll(async () => {
  await writeShard(store, "main", await readFolder(samples));
  await createWorldRecompiler({ store })({});
  folder = await mkdtemp(join(tmpdir(), "portolan-fs-"));
  const files = fileStore(join(folder, "store"));
  await writeShard(files, "main", await readFolder(samples));
  await createWorldRecompiler({ store: files })({});
  const key = await makeSigningKey("tokens");
  const tokens = { keys: [publicPart(key)] };
  await writeFile(join(folder, "operator"), `${await tokenOf(key, { scope: "operator" })}\n`);
  await writeFile(join(folder, "node"), await tokenOf(key, { scope: "node", namespace: "default" }));
  const serve = async (authentication?: ReturnType<typeof readAuthentication>) => {
    const front = createFront({
      store,
      loadTracer: async () => tracer,
      findCauses: storeCauses(store),
      ...(authentication === undefined ? {} : { authentication }),
    });
    const server = await serveHttp(frontApp(front), 0);
    closing.push(() => front.close(), server.close);
    return server.url;
  };
  url = await serve();
  guarded = await serve(readAuthentication(JSON.stringify({ tokens }), { now: () => nowMs }));
}, 60_000);
afterAll(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

describe("portolan proxy-config --server", () => {
  it.each(["clusters", "listeners", "routes", "endpoints", "secrets", "all"])(
    "shows the %s that a front serves, as they are compiled",
    async (type) => {
      const served = await run("proxy-config", type, gateway, "--server", url);
      const compiled = await run("proxy-config", type, gateway, "--dir", samples);
      expect([served.code, served.out]).toEqual([0, compiled.out]);
      expect(served.err).toContain(`as ${url} serves it`);
    },
  );

  it.each([
    ["clusters", "--fqdn", "catalog.bookshop.svc.cluster.local"],
    ["clusters", "--subset", "v2"],
    ["clusters", "--direction", "outbound"],
    ["clusters", "--port", "9080"],
    ["listeners", "--address", "0.0.0.0"],
    ["routes", "--name", "http"],
  ])("narrows %s by %s %s, in JSON and YAML, too", async (...args) => {
    for (const form of ["table", "json", "yaml"]) {
      const served = await run("pc", args[0], gateway, ...args.slice(1), "--server", url, "-o", form);
      expect(served.out).toBe((await run("pc", args[0], gateway, ...args.slice(1), "--dir", samples, "-o", form)).out);
    }
  });

  it("shows an earlier version, and the polls' shape", async () => {
    expect((await run("pc", "clusters", gateway, "--server", url, "--root", "1")).code).toBe(0);
    const polled = await run("pc", "clusters", gateway, "--server", url, "--shape", "poll", "--json");
    expect(polled.out).toContain("loadAssignment");
    expect(await run("pc", "clusters", gateway, "--server", url, "--root", "77")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no publication 77"),
    });
  });

  it("asks as an operator where a front wants one, and says what is missing", async () => {
    const ask = (...more: readonly string[]) => run("pc", "clusters", gateway, "--server", guarded, ...more);
    expect((await ask("--token-file", join(folder, "operator"))).code).toBe(0);
    expect(await ask()).toMatchObject({ code: 1, err: expect.stringMatching(/answers 401: .*--token-file/) });
    const node = await ask("--token-file", join(folder, "node"));
    expect(node).toMatchObject({ code: 1, err: expect.stringMatching(/answers 403: .*an operator's/) });
    expect(await ask("--token-file", join(folder, "none"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be read"),
    });
  });

  it("says who is nobody, and that a folder is no front", async () => {
    expect(await run("pc", "clusters", "none.bookshop", "--server", url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no node or class "none.bookshop"'),
    });
    expect(await run("pc", "all", gateway, "--server", url, "--dir", samples)).toMatchObject({ code: 2 });
  });
});

describe("a server that is no front", () => {
  const page = { root: "r", class: "c", resources: [{ name: "a", version: "1", from: [], text: "not JSON" }] };
  it.each([
    "<html>\u001b]0;title\u0007",
    "",
    "null",
    "[1]",
    "{}",
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    '{"nodes":[{}],"more":0}',
    '{"root":"r","class":"c","resources":[null]}',
    JSON.stringify(page),
    JSON.stringify({ ...page, resources: [{ ...page.resources[0], text: "null" }] }),
  ])("is said to be none, whatever it answers: %j", async (answer) => {
    const server = createServer((_, response) => response.end(answer)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const at = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
    try {
      const status = ["status", "--store", join(folder, "store")];
      for (const command of [["pc", "all", gateway], ["trace", gateway, "http://a/"], ["ps"], status]) {
        if (command[0] === "ps" && answer === "null") continue;
        expect(await run(...command, "--server", at)).toMatchObject({
          code: 1,
          out: "",
          err: expect.stringMatching(/does not answer as a front|serves another store/),
        });
      }
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it("is not waited for without end: an answer that breaks off is said to", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{");
      setTimeout(() => response.destroy(), 20);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const at = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
    expect(await run("ps", "--server", at)).toMatchObject({ code: 1, err: expect.stringContaining("did not end") });
    server.close();
  });
});

describe("a front that serves what is no message of Envoy's", () => {
  type Page = Readonly<Record<string, unknown>> & {
    readonly resources: readonly { readonly name: string; readonly text: string }[];
  };
  type Json = Record<string, unknown>;

  /** Answers as the front does, but for the resources that are changed. */
  async function withChanged<T>(change: (json: Json, type: string) => unknown, act: (at: string) => Promise<T>) {
    const server = createServer((request, response) => {
      void fetch(url + request.url).then(async (answer) => {
        const page: Page = Object(await answer.json());
        const type = new URL(url + request.url).searchParams.get("type") ?? "";
        const changed = (page.resources ?? []).map((one) => {
          const json: Json = JSON.parse(one.text);
          return { ...one, text: JSON.stringify(change(json, type) ?? json) };
        });
        response.end(JSON.stringify({ ...page, resources: changed }));
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    try {
      return await act(typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it.each([
    ["clusters", "clusterType", 5],
    ["listeners", "filterChains", "none"],
    ["routes", "virtualHosts", { domains: [] }],
    ["endpoints", "endpoints", [5]],
  ])("has its %s named that are none for their %s, and all others shown", async (type, field, wrong) => {
    let isFirst = true;
    const change = (json: Json, of: string) => {
      const isMeant = of === type && isFirst;
      if (of === type) isFirst = false;
      return isMeant ? { ...json, [field]: wrong } : json;
    };
    const lines = ({ out }: { readonly out: string }) => out.split("\n");
    const whole = lines(await run("pc", type, gateway, "--server", url, "-o", "json"));
    const told = await withChanged(change, (at) => run("pc", type, gateway, "--server", at, "-o", "json"));
    const name = JSON.parse(whole.join("\n")).resources[0].name;
    expect(told.code).toBe(1);
    expect(told.err).toContain(`warning ${type} ${JSON.stringify(name)} is left out: `);
    expect(told.err).toMatch(new RegExp(`${field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)}|${field}`));
    expect(told.err).toMatch(/portolan: 1 resource of http:\S+ cannot be read: is it of this version/);
    const names = (text: string) => JSON.parse(text).resources.map((one: { readonly name: string }) => one.name);
    expect(names(told.out)).toEqual(names(whole.join("\n")).slice(1));
  });

  it("is followed through the rest, and the command fails in the end", async () => {
    const broken = (json: Json, type: string) =>
      type === "clusters" && String(json.name).includes("|v2|") ? { ...json, type: [] } : json;
    const told = await withChanged(broken, (at) =>
      run("trace", gateway, "http://shop.example.com:10080/catalog", "--server", at),
    );
    expect(told).toMatchObject({ code: 1, out: expect.stringContaining("listener 0.0.0.0_10080") });
    expect(told.err).toMatch(/warning clusters "outbound\|\d+\|v2\|\S+" is left out: .*DiscoveryType/);
  });

  it("ends no command with an error of ours, whatever is wrong with any of its fields", async () => {
    const wrongs = [5, "x", null, [], {}, true, [null], { "@type": "x", a: 1 }, -1];
    for (let round = 0; round < 40; round++) {
      let count = 0;
      const change = (json: Json) => {
        const places = placesIn(json);
        const { of, key } = places[(round * 7 + count * 13) % places.length] ?? { of: json, key: "name" };
        of[key] = wrongs[(round + count++) % wrongs.length];
        return json;
      };
      await withChanged(change, async (at) => {
        for (const command of [["pc", "all", gateway], ["pc", "all", gateway, "-o", "yaml"], way, [...way, "--json"]])
          expect([0, 1]).toContain((await run(...command, "--server", at)).code);
      });
    }
  }, 120_000);
  const way = ["trace", gateway, "http://shop.example.com:10080/catalog"];

  /** Every member of every object in it. */
  function placesIn(value: unknown): readonly { readonly of: Json; readonly key: string }[] {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => [{ of: Object(value), key }, ...placesIn(inner)]);
  }

  it("is not asked without end for pages that lead nowhere", async () => {
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ root: "r", class: "c", resources: [], next: "a" })),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const at = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
    expect(await run("pc", "all", gateway, "--server", at)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is no front of this version"),
    });
    server.close();
    server.closeAllConnections();
  });
});

describe("portolan trace --server", () => {
  it("takes the way that the compiled folder gives", async () => {
    const request = ["trace", gateway, "http://shop.example.com:10080/catalog", "--json"];
    const [served, compiled] = [await run(...request, "--server", url), await run(...request, "--dir", samples)];
    const ways = (text: string) => JSON.parse(text).ways.map(({ end }: { end: unknown }) => end);
    expect(ways(served.out)).toEqual(ways(compiled.out));
  });
});

it("a front that reads sources says in a trace where the objects behind each decision stand", async () => {
  const query = new URLSearchParams({ node: gateway, url: "http://shop.example.com:10080/catalog" });
  const traced: Traced = Object(await (await fetch(`${url}/api/trace?${query}`)).json());
  const told = traced.decisions.flatMap(({ causes }) => causes.map(({ object, at }) => `${object} ${at}`));
  expect(told).toContainEqual(expect.stringMatching(/^Gateway\/bookshop\/bookshop gateway\.yaml:\d+$/));
});
