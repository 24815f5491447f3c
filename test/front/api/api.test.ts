import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { consoleFiles } from "../../../gen/console.ts";
import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { type ApiName, apiPaths, type Taken } from "../../../lib/front/api/paths.ts";
import type { Diagnostics, Resources } from "../../../lib/front/api/schema/answers.ts";
import { described } from "../../../lib/front/api/schema/described.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { makeSigningKey, publicPart } from "../../../lib/snapshot/head/signing-keys.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nowMs, tokenOf } from "../auth/keys.ts";
import { type TestFront, testFront } from "../fixtures.ts";

let test: TestFront;

const fileOf = (path: string) => consoleFiles.find((file) => file.path === path)?.text ?? "";

/** Asks, and holds an answer against what its description says. */
async function ask(name: ApiName, path: string) {
  const response = await test.request(path);
  const answer: unknown = await response.json();
  expect([path, response.status, answer]).toEqual([path, 200, answer]);
  const strict = described[name].answer.strict();
  expect(strict.safeParse(answer).error?.issues ?? []).toEqual([]);
  return Object(answer);
}

const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`c${String(i).padStart(3, "0")}`, "1"]));

type Told = Diagnostics["diagnostics"][number];

/** Of an object that is refused. */
const refused = (severity: "error" | "warning", code: Diagnostic["code"], name: string): Diagnostic => {
  const key = { group: "networking.istio.io", kind: "VirtualService", namespace: "shop", name };
  return { code, severity, origin: { key, file: "b.yaml", line: 1 }, path: [], message: "is wrong", hint: "" };
};

beforeAll(async () => {
  test = testFront();
  const world = worldOf({ web: { clusters: many, routes: { "80": "1" } }, other: { clusters: { b: "2" } } });
  await test.publish({
    ...world,
    nodes: [
      { keys: ["web-1.shop", "10.0.0.5", "web/web-1.shop"], classId: "web" },
      { keys: ["pay.shop", "10.0.0.9"], classId: "other" },
    ],
    diagnostics: [
      {
        code: "unknown-field",
        severity: "warning",
        origin: {
          key: { group: "networking.istio.io", kind: "VirtualService", namespace: "shop", name: "a" },
          file: "a.yaml",
          line: 3,
        },
        path: ["spec", "http", 0, "rout"],
        message: "there is no field rout",
        hint: "route is meant",
      },
      refused("error", "invalid-value", "b"),
      refused("warning", "last-valid-served", "b"),
      refused("error", "invalid-value", "c"),
    ],
  });
  await test.publish(worldOf({ web: { clusters: { ...many, c000: "9" } }, other: { clusters: { b: "2" } } }));
});

describe("the API", () => {
  it("tells what is served, and how much of it there is", async () => {
    const overview = await ask("overview", "/api/overview");
    expect(overview).toMatchObject({ generation: 2, classes: 2, diagnostics: { errors: 0 }, steps: [], held: [] });
    expect(overview.since.generation).toBe(2);
  });

  it("reads the history page by page", async () => {
    const first = await ask("history", "/api/history?limit=1");
    expect(first.entries.map(({ generation }: { generation: number }) => generation)).toEqual([2]);
    const second = await ask("history", `/api/history?limit=1&before=${first.next}`);
    expect(second.entries.map(({ generation }: { generation: number }) => generation)).toEqual([1]);
    expect(second.next).toBeUndefined();
  });

  it("takes no other blob of the store for an entry of the history", async () => {
    const { served } = await ask("overview", "/api/overview");
    expect((await test.request(`/api/history?before=${served}`)).status).toBe(400);
    expect((await test.request("/api/history?before=../HEAD")).status).toBe(400);
  });

  it("tells the diagnostics of a version with place and remedy", async () => {
    const { total, diagnostics } = await ask("diagnostics", "/api/diagnostics?root=1&severity=warning&q=ROUT");
    expect(total).toBe(1);
    expect(diagnostics[0]).toMatchObject({
      object: "VirtualService/shop/a",
      file: "a.yaml",
      line: 3,
      path: "spec.http[0].rout",
    });
    expect((await ask("diagnostics", "/api/diagnostics")).total).toBe(0);
  });

  it("tells of each error what is served instead, however few are asked for", async () => {
    const { diagnostics } = await ask("diagnostics", "/api/diagnostics?root=1&severity=error");
    expect(diagnostics.map(({ object, instead }: Told) => [object, instead])).toEqual([
      ["VirtualService/shop/b", "last-valid"],
      ["VirtualService/shop/c", "nothing"],
    ]);
    const warnings = await ask("diagnostics", "/api/diagnostics?root=1&severity=warning");
    expect(warnings.diagnostics.map((one: Told) => "instead" in one)).toEqual([false, false]);
  });

  it("finds classes by their nodes, and counts no address as one", async () => {
    const { classes } = await ask("classes", "/api/classes?root=1&q=web-1");
    expect(classes).toMatchObject([
      { id: "web", nodes: 1, first: ["web-1.shop"], counts: { clusters: 120, routes: 1 } },
    ]);
    const one = await ask("oneClass", "/api/classes/web?root=1");
    expect(one.page).toEqual(["web-1.shop"]);
    expect(one.trees.length).toBeGreaterThan(4);
  });

  it("goes through all resources of a class page by page, each once", async () => {
    const seen: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page = await ask("resources", `/api/resources?class=web&limit=50&after=${after}`);
      expect(page.total).toBe(120);
      seen.push(...page.resources.map(({ name }: { name: string }) => name));
      after = page.next;
    }
    expect(seen).toEqual(Object.keys(many));
  });

  it("finds resources by name, and gives the text that proxies get", async () => {
    const found = await ask("resources", "/api/resources?class=web&q=C11");
    expect(found.resources.length).toBe(10);
    const { text, bytes } = await ask("resource", "/api/resource?class=web&type=clusters&name=c000");
    expect(JSON.parse(text)).toMatchObject({ name: "c000" });
    expect(text.length).toBe(bytes);
  });

  it("reads a resource on from any byte, and cuts no character", async () => {
    const long = testFront();
    const name = "é".repeat(200_000);
    await long.publish(worldOf({ web: { clusters: { [name]: "1" } } }));
    const path = `/api/resource?class=web&name=${encodeURIComponent(name)}`;
    const first = Object(await (await long.request(path)).json());
    expect(first.next).toBeGreaterThan(250_000);
    const rest = Object(await (await long.request(`${path}&offset=${first.next}`)).json());
    expect(JSON.parse(first.text + rest.text)).toMatchObject({ name });
  });

  it.each([
    ["/api/resources", 400, "class is missing"],
    ["/api/classes/none", 404, "no class"],
    ["/api/resources?class=web&type=secrets", 400, "type is one of"],
    ["/api/resource?class=web&name=none", 404, "no resource"],
    ["/api/classes?root=77", 404, "no publication 77"],
    [`/api/classes?root=${"0".repeat(64)}`, 404, "any more"],
    ["/api/none", 404, "there is no"],
  ])("says what is wrong with %s", async (path, status, detail) => {
    const response = await test.request(path);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(detail)]);
  });

  it("blames the request, and not the store, when a version is named that is some other blob", async () => {
    const head = await test.front.heads.current();
    const { root } = await test.front.reader.root(head?.steps[0]?.root ?? "");
    const texts = await Promise.all([root.classes, root.classifier, ...Object.values(root.tables)].map(rootAnswer));
    expect(new Set(texts)).toEqual(new Set(["404 is no version"]));
  });

  async function rootAnswer(hash: string): Promise<string> {
    const response = await test.request(`/api/classes?root=${hash}`);
    const { detail }: { readonly detail?: string } = Object(await response.json());
    return `${response.status} ${/is no version/.exec(detail ?? "")?.[0] ?? detail}`;
  }

  it.each([
    ["/api/overview?limit=3", '/api/overview takes no parameter "limit": it takes none'],
    ["/api/nodes?severity=error", '/api/nodes takes no parameter "severity": it takes q, offset, limit'],
    ["/api/resources?class=web&constructor=1", 'takes no parameter "constructor"'],
    ["/api/history?limit=ten", '"limit" is a whole number, not "ten"'],
    ["/api/history?limit=1&limit=2", '"limit" is there 2 times'],
    ["/api/diagnostics?severity=fatal", '"severity" is one of error, warning, info, not "fatal"'],
    ["/api/trace?node=web&url=http://a&direction=up", '"direction" is one of inbound, outbound'],
    ["/api/resources?class=web&node=web-1.shop", "one of them is meant"],
  ])("answers no other question than %s asks", async (path, detail) => {
    const response = await test.request(path);
    const answer: { readonly detail: string } = Object(await response.json());
    expect([response.status, answer.detail]).toEqual([400, expect.stringContaining(detail)]);
  });

  it("describes each parameter that a request takes, with what it may be, and no other", () => {
    for (const name of Object.keys(described).filter((one): one is ApiName => one in apiPaths)) {
      const { query } = described[name];
      const taken: Readonly<Record<string, Taken>> = apiPaths[name].query;
      expect([name, Object.keys(query).sort()]).toEqual([name, Object.keys(taken).sort()]);
      for (const [parameter, type] of Object.entries<z.ZodType>(query)) {
        const { enum: words } = Object(z.toJSONSchema(type));
        const takes = taken[parameter];
        // What a version's shapes and types are, the handlers say.
        if (Array.isArray(takes)) expect([name, parameter, words]).toEqual([name, parameter, takes]);
        else if (words !== undefined) expect(["shape", "type"]).toContain(parameter);
      }
    }
  });

  it("gives resources of a node with their texts, as many as an answer holds", async () => {
    const long = testFront();
    const bodies = { a: "x".repeat(100_000), b: "y".repeat(100_000), c: "z".repeat(100_000), d: "w".repeat(300_000) };
    await long.publish(worldOf({ web: { clusters: bodies } }));
    const pages: Resources["resources"][] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const path: string = `/api/resources?node=web.default&texts=true&after=${after}`;
      const page: Resources = Object(await (await long.request(path)).json());
      expect(page.class).toBe("web");
      pages.push(page.resources);
      after = page.next;
    }
    expect(pages.map((page) => page.map(({ name }) => name).join(""))).toEqual(["ab", "cd"]);
    const texts = pages.flat().map(({ text, bytes }) => text?.length === bytes);
    expect(texts).toEqual([true, true, true, false]);
    expect((await long.request("/api/resources?node=nobody.default")).status).toBe(404);
  });

  it("gives no answer that is longer than its bound", async () => {
    const small = testFront({ limits: { ...limits, apiBytes: 500 } });
    await small.publish(worldOf({ web: { clusters: many } }));
    const response = await small.request("/api/resources?class=web");
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("too long")]);
  });

  it("answers so many at a time, and others when there is room", async () => {
    const narrow = testFront({ limits: { ...limits, apiCalls: 1 } });
    await narrow.publish(worldOf({ web: { clusters: many } }));
    const both = await Promise.all([narrow.request("/api/classes"), narrow.request("/api/classes")]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 503]);
    expect((await narrow.request("/api/classes")).status).toBe(200);
  });

  it("describes every request that it answers, and no other", () => {
    const document: { paths: Record<string, Record<string, { responses: object }>> } = JSON.parse(
      fileOf("/api/openapi.json"),
    );
    const written = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    );
    expect(written.sort()).toEqual(
      Object.values(apiPaths)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    );
  });
});

describe("the console's files", () => {
  const served = () => frontApp(test.front, async () => consoleFiles);

  it("are the same for anybody, and let a browser run nothing but files of theirs", async () => {
    const page = await served().request("/");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=/);
    const [, script = ""] = /src="\.(\/console\/app-\w+\.js)"/.exec(text) ?? [];
    const asked = await served().request(script);
    expect([asked.status, asked.headers.get("cache-control")]).toEqual([200, expect.stringContaining("immutable")]);
    expect((await served().request("/console/none.js")).status).toBe(404);
  });

  it("are there without a token where the API wants an operator's", async () => {
    const key = await makeSigningKey("tokens");
    const authentication = readAuthentication(JSON.stringify({ tokens: { keys: [publicPart(key)] } }), {
      now: () => nowMs,
    });
    const guarded = testFront({ authentication });
    await guarded.publish(worldOf({ web: { clusters: many } }));
    const app = frontApp(guarded.front, async () => consoleFiles);
    const ask = async (path: string, token?: string) =>
      (await app.request(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
    const node = await tokenOf(key, { scope: "node", namespace: "default" });
    const operator = await tokenOf(key, { scope: "operator" });
    for (const path of ["/", "/api/openapi.json"]) expect(await ask(path)).toBe(200);
    for (const { path } of Object.values(apiPaths)) {
      expect([path, await ask(path), await ask(path, node)]).toEqual([path, 401, 403]);
    }
    expect(await ask("/api/overview", operator)).toBe(200);
    for (const path of ["/console/..%2fapi%2foverview", "//api/overview", "/console/x/api"])
      expect([path, await ask(path)]).toEqual([path, expect.toSatisfy((status) => status === 401 || status === 404)]);
  });

  it("is described by a document that OpenAPI's own schema takes, and that schema refuses a wrong one", async () => {
    const document = JSON.parse(fileOf("/api/openapi.json"));
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    const broken = { ...document, paths: { "/api/overview": { get: { responses: { 200: { content: {} } } } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });
});
