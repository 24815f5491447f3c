import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { project } from "../../../lib/base/classifier.ts";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import type { FrontOptions } from "../../../lib/front/front.ts";
import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { coreTypes } from "../../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

interface Discovery {
  readonly version_info: string;
  readonly type_url: string;
  readonly resources: readonly { readonly name: string; readonly content: string }[];
}

const read = async (response: Response): Promise<Discovery> => JSON.parse(await response.text());
const detailOf = async (response: Response): Promise<string> => {
  const problem: { readonly detail: string } = JSON.parse(await response.text());
  return problem.detail;
};

const web = (content = "1") =>
  worldOf({
    web: {
      clusters: { a: "1", b: "2" },
      endpoints: { a: "e" },
      listeners: { l: "1" },
      routes: { "80": content, "8080": "other" },
    },
  });

/** Enough that no answer is small: several segments. */
const large = (): CompiledWorld =>
  worldOf({
    web: { clusters: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`c${i}`, `ü${"x".repeat(500)}`])) },
  });

async function published(world: CompiledWorld = web(), options: Partial<FrontOptions> = {}) {
  const test = testFront(options);
  await test.publish(world);
  return test;
}

describe("a poll", () => {
  it("gets the whole type in name order, with its version and type", async () => {
    const { poll } = await published();
    const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-encoding")).toBeNull();
    const { version_info, type_url, resources } = await read(response);
    expect(version_info).toMatch(/^[0-9a-f]{32}$/);
    expect(type_url).toBe("type.googleapis.com/envoy.config.cluster.v3.Cluster");
    expect(resources.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("gets large answers in full, with the length it was told", async () => {
    const { poll } = await published(large());
    const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
    const bytes = await response.arrayBuffer();
    expect(response.headers.get("content-length")).toBe(String(bytes.byteLength));
    const { resources }: Discovery = JSON.parse(new TextDecoder().decode(bytes));
    expect(resources).toHaveLength(1_000);
  });

  it("gets exactly the one route table or load assignment that it names", async () => {
    const { poll } = await published();
    const routes = await read(await poll("routes", pollBody("routes", nodeOf("web"), { names: ["8080"] })));
    expect(routes.resources).toMatchObject([{ name: "8080", content: "other" }]);
    const endpoints = await read(await poll("endpoints", pollBody("endpoints", nodeOf("web"), { names: ["a"] })));
    expect(endpoints.resources).toMatchObject([{ name: "a" }]);
  });

  it.each(coreTypes)("gets 304 without a body when its version of %s is current", async (type) => {
    const { poll } = await published();
    const names = type === "routes" ? ["80"] : type === "endpoints" ? ["a"] : undefined;
    const asked = names === undefined ? {} : { names };
    const { version_info: version } = await read(await poll(type, pollBody(type, nodeOf("web"), asked)));
    const response = await poll(type, pollBody(type, nodeOf("web"), { version, ...asked }));
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
  });

  it("never gets 304 on its first poll, even when there is nothing for it", async () => {
    const { poll } = await published(worldOf({ web: {} }));
    const response = await poll("listeners", pollBody("listeners", nodeOf("web")));
    expect(response.status).toBe(200);
    expect((await read(response)).resources).toEqual([]);
  });

  it("keeps the version of a route table when another one changes", async () => {
    const { poll, publish } = await published(web("1"));
    const ask = async (names: readonly string[]) =>
      (await read(await poll("routes", pollBody("routes", nodeOf("web"), { names })))).version_info;
    const before = [await ask(["80"]), await ask(["8080"])];
    await publish(web("2"));
    const after = [await ask(["80"]), await ask(["8080"])];
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  it("is answered alike in both spellings of the fields", async () => {
    const { poll } = await published();
    const body = pollBody("clusters", nodeOf("web"));
    const camel = body.replace("type_url", "typeUrl");
    expect(await read(await poll("clusters", camel))).toEqual(await read(await poll("clusters", body)));
  });

  it("may be as large as Envoy's with all its extensions", async () => {
    const { poll } = await published();
    const recorded = JSON.parse(
      readFileSync(new URL("../../captured/envoy/1.40.0/cds.first.raw.json", import.meta.url), "utf8"),
    );
    const { extensions } = JSON.parse(recorded.body_raw).node;
    const node = { ...nodeOf("web"), extensions };
    const first = await poll("clusters", pollBody("clusters", node));
    const { version_info: version } = await read(first);
    expect((await poll("clusters", pollBody("clusters", node, { version }))).status).toBe(304);
  });

  it("finds its path with an encoded colon", async () => {
    const { request } = await published();
    const response = await request("/v3/discovery%3Aclusters", {
      method: "POST",
      body: pollBody("clusters", nodeOf("web")),
    });
    expect(response.status).toBe(200);
  });
});

describe("placing a node", () => {
  const node = nodeOf("cart-7d", { app: "cart", pod: "cart-7d" });
  const classifier = (classes: Readonly<Record<string, string>>, defaults: Readonly<Record<string, string>> = {}) => ({
    attributes: ["namespace", "type"],
    labels: { "*": { keys: ["app"] } },
    classes,
    defaults,
  });
  const world = (more: Partial<CompiledWorld>) =>
    worldOf({ a: { clusters: { one: "a" } }, b: { clusters: { one: "b" } } }, { nodes: [], ...more });
  const classOf = async (more: Partial<CompiledWorld>, who: object) => {
    const { poll } = await published(world(more));
    const response = await poll("clusters", pollBody("clusters", who));
    return response.status === 200 ? (await read(response)).resources[0]?.content : detailOf(response);
  };

  it("goes by what the classifier reads of it", async () => {
    const claims = { ...node, locality: "" };
    const projection = project(classifier({}), claims) ?? "";
    expect(await classOf({ classifier: classifier({ [projection]: "b" }) }, node)).toBe("b");
  });

  it("goes by name or address when it brings no metadata", async () => {
    const bare = { id: "sidecar~10.0.0.5~cart-7d.default~default.svc.cluster.local", cluster: "x" };
    expect(await classOf({ nodes: [{ keys: ["cart-7d.default"], classId: "a" }] }, bare)).toBe("a");
    expect(await classOf({ nodes: [{ keys: ["10.0.0.5"], classId: "b" }] }, bare)).toBe("b");
    expect(await classOf({ nodes: [{ keys: ["edge-1"], classId: "b" }] }, { id: "edge-1", cluster: "edges" })).toBe(
      "b",
    );
  });

  it("tells a plain node that nobody knows what to write where", async () => {
    const { poll, publish } = testFront();
    await publish(worldOf({ web: { clusters: { a: "1" } } }));
    const response = await poll("clusters", pollBody("clusters", { id: "my-node" }));
    expect([response.status, JSON.parse(await response.text()).detail]).toEqual([
      404,
      expect.stringContaining('write {id: "my-node", namespace: …} under proxies: into portolan.yaml'),
    ]);
  });

  it("falls back to the default class of its type and namespace", async () => {
    expect(await classOf({ classifier: classifier({}, { "sidecar/default": "a" }) }, node)).toBe("a");
  });

  it("fails with 404 and a reason, never with an empty answer", async () => {
    expect(await classOf({}, node)).toContain("sidecar/default has no default class");
    expect(await classOf({}, { id: "nobody", cluster: "x" })).toContain('node "nobody" is not known');
  });

  it("follows a node that restarts with other labels under the same id", async () => {
    const classes = Object.fromEntries(
      [
        ["cart", "a"],
        ["shop", "b"],
      ].map(([app, id]) => [
        project(classifier({}), { ...nodeOf("cart-7d", { app: app ?? "" }), locality: "" }) ?? "",
        id ?? "",
      ]),
    );
    const { poll } = await published(world({ classifier: classifier(classes) }));
    const ask = async (app: string) =>
      (await read(await poll("clusters", pollBody("clusters", nodeOf("cart-7d", { app }))))).resources[0]?.content;
    expect([await ask("cart"), await ask("shop")]).toEqual(["a", "b"]);
  });
});

describe("an error", () => {
  it.each([
    ["broken JSON", "clusters", "{", 400],
    ["a body without node", "clusters", "{}", 400],
    ["a type that is not the path's", "clusters", pollBody("listeners", nodeOf("web")), 400],
    ["routes without a name", "routes", pollBody("routes", nodeOf("web")), 400],
    ["a route table that the class does not have", "routes", pollBody("routes", nodeOf("web"), { names: ["no"] }), 404],
    ["an unknown node", "clusters", pollBody("clusters", nodeOf("nobody")), 404],
  ] as const)("over %s has a reason and can never be read as an empty answer", async (_what, type, body, status) => {
    const { poll } = await published();
    const response = await poll(type, body);
    expect(response.status).toBe(status);
    expect((await detailOf(response)).length).toBeGreaterThan(5);
  });

  it("says that nothing was published yet", async () => {
    const { poll, request } = testFront();
    expect((await poll("clusters", pollBody("clusters", nodeOf("web")))).status).toBe(503);
    expect((await request("/healthz")).status).toBe(503);
  });

  it("says which paths there are not", async () => {
    const { request } = await published();
    expect((await request("/v3/discovery:runtime", { method: "POST", body: "{}" })).status).toBe(404);
    expect((await request("/v3/discovery:clusters")).status).toBe(404);
    expect((await request("/")).status).toBe(404);
  });

  it("is what a store that is down gives at first, and nobody notices once HEAD was read", async () => {
    let down = true;
    const memory = memoryStore();
    const store = {
      ...memory,
      get: async (...args: Parameters<typeof memory.get>) => {
        if (down) throw new PortolanError("the store is down");
        return memory.get(...args);
      },
    };
    const { poll, publish } = testFront({ store });
    const ask = async () => (await poll("clusters", pollBody("clusters", nodeOf("web")))).status;
    expect(await ask()).toBe(503);
    down = false;
    await publish(web());
    expect(await ask()).toBe(200);
    down = true;
    expect(await ask()).toBe(200);
  });
});

describe("while the store does not give the root in force", () => {
  it.each(["fails", "is silent"])(
    "everybody keeps what he has, and who has nothing gets the last: it %s",
    async (how) => {
      const memory = memoryStore();
      let known: Set<string> | undefined;
      const store = {
        ...memory,
        get: async (...args: Parameters<typeof memory.get>) => {
          if (!args[0].startsWith("blobs/") || known === undefined || known.has(args[0])) return memory.get(...args);
          if (how === "fails") throw new PortolanError("the store is down");
          return new Promise<never>(() => {});
        },
      };
      const { poll, publish, front } = testFront({ store, maxHoldMs: 60_000 });
      const ask = (version?: string) =>
        poll("routes", pollBody("routes", nodeOf("web"), { names: ["80"], ...(version && { version }) }), {
          "x-envoy-expected-rq-timeout-ms": "60000",
        });
      await publish(web("1"));
      const { version_info: version } = await read(await ask());
      known = new Set();
      for await (const { key } of memory.list("blobs/")) known.add(key);
      await createPublisher(memory, { pace: { settleMs: 0, retentionMs: 0 } }).publish(
        web("2"),
        await createPublisher(memory).head(),
      );
      expect((await ask(version)).status).toBe(304);
      expect((await read(await ask())).version_info).toBe(version);
      expect((await ask("newer")).status).toBe(503);
      known = undefined;
      if (how === "fails") expect((await ask(version)).status).toBe(200);
      front.close();
    },
  );
});

describe("a held poll", () => {
  const patient = { "x-envoy-expected-rq-timeout-ms": "15000" };

  async function heldPoll() {
    const test = await published(web("1"), { maxHoldMs: 20_000 });
    const ask = (version?: string, headers = {}) =>
      test.poll("routes", pollBody("routes", nodeOf("web"), { names: ["80"], ...(version && { version }) }), headers);
    const { version_info: version } = await read(await ask());
    return { ...test, ask, version };
  }

  it("is answered as soon as its resource changes", async () => {
    const { ask, version, publish } = await heldPoll();
    const answer = ask(version, patient);
    await publish(web("2"));
    const { resources } = await read(await answer);
    expect(resources).toMatchObject([{ content: "2" }]);
  });

  it("goes on waiting when something else changes", async () => {
    const { ask, version, publish } = await heldPoll();
    let answered = false;
    const answer = ask(version, patient).finally(() => {
      answered = true;
    });
    await publish(worldOf({ web: { clusters: { new: "1" }, routes: { "80": "1", "8080": "other" } } }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(answered).toBe(false);
    await publish(web("3"));
    expect((await answer).status).toBe(200);
  });

  it("is not held for a node that will not wait, and ends in time for one that will", async () => {
    const { ask, version } = await heldPoll();
    const startMs = performance.now();
    expect((await ask(version, { "x-envoy-expected-rq-timeout-ms": "1000" })).status).toBe(304);
    expect(performance.now() - startMs).toBeLessThan(200);
    expect((await ask(version, { "x-envoy-expected-rq-timeout-ms": "5150" })).status).toBe(304);
    expect(performance.now() - startMs).toBeGreaterThan(140);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it("is let go when the front closes", async () => {
    const { ask, version, front } = await heldPoll();
    const answer = ask(version, patient);
    setTimeout(() => front.close(), 20);
    expect((await answer).status).toBe(304);
  });
});

describe("a refusal", () => {
  it("is told once when a node keeps its version after it was served another, and ends when it moves on", async () => {
    const refusals: unknown[] = [];
    const { poll, publish, front } = await published(web("1"), { onRefusal: (refusal) => refusals.push(refusal) });
    const ask = async (version?: string) => {
      const body = pollBody("routes", nodeOf("web"), { names: ["80"], ...(version && { version }) });
      const response = await poll("routes", body);
      return response.status === 200 ? (await read(response)).version_info : undefined;
    };
    const kept = await ask();
    await publish(web("2"));
    const refused = await ask(kept);
    expect(refusals).toEqual([]);
    await ask(kept);
    expect(refusals).toEqual([]);
    await ask(kept);
    await ask(kept);
    expect(refusals).toMatchObject([{ nodeId: nodeOf("web").id, type: "routes", name: "80", kept, refused }]);
    expect(await front.explainRefusals()).toMatchObject([
      { suspects: [{ name: "80", from: ["VirtualService/default/80"] }] },
    ]);
    await ask(refused);
    expect(front.refusals.active()).toEqual([]);
  });

  it("of a whole type is narrowed down to the resources that are new in it", async () => {
    const { poll, publish, request } = await published(worldOf({ web: { clusters: { a: "1", b: "1", c: "1" } } }));
    const ask = async (version?: string) => {
      const response = await poll("clusters", pollBody("clusters", nodeOf("web"), { ...(version && { version }) }));
      return response.status === 200 ? (await read(response)).version_info : undefined;
    };
    const kept = await ask();
    await publish(worldOf({ web: { clusters: { a: "1", b: "broken", c: "1", d: "new" } } }));
    for (let i = 0; i < 3; i += 1) await ask(kept);
    const { refusals }: { readonly refusals: readonly { readonly suspects: readonly { readonly name: string }[] }[] } =
      JSON.parse(await (await request("/refusals")).text());
    expect(refusals.map(({ suspects }) => suspects.map(({ name }) => name))).toEqual([["b", "d"]]);
  });
});
