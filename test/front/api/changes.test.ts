import { beforeEach, describe, expect, it } from "vitest";
import { described } from "../../../lib/front/api/schema/described.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { noNodes } from "../../../lib/front/nodes/node-watch.ts";
import { storeMoves } from "../../../lib/front/operate/store-moves.ts";
import { setCanary } from "../../../lib/snapshot/head/head-operations.ts";
import { makeSigningKey, publicPart } from "../../../lib/snapshot/head/signing-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nowMs, tokenOf } from "../auth/keys.ts";
import { nodeOf, pollBody, type TestFront, testFront } from "../fixtures.ts";

const pace = { settleMs: 0, retentionMs: 0 };
let test: TestFront;

beforeEach(async () => {
  const store = memoryStore();
  test = testFront({ store, moves: storeMoves(store, { pace }) });
  await test.publish(worldOf({ web: { clusters: { a: "1", b: "1", gone: "1" } }, old: { clusters: { a: "1" } } }));
  await test.publish(worldOf({ web: { clusters: { a: "2", b: "1", come: "1" } }, fresh: { clusters: { a: "2" } } }));
});

const get = async (name: "diff" | "resourceDiff" | "nodes" | "trouble" | "overview", path: string) => {
  const response = await test.request(path);
  const answer: unknown = await response.json();
  expect([path, response.status, answer]).toEqual([path, 200, answer]);
  expect(described[name].answer.strict().safeParse(answer).error?.issues ?? []).toEqual([]);
  return Object(answer);
};

describe("a comparison", () => {
  it("tells what came, went and changed, and which classes did", async () => {
    const diff = await get("diff", "/api/diff?before=1&after=2");
    expect(diff.resources.map(({ change, name }: { change: string; name: string }) => `${change} ${name}`)).toEqual([
      "changed a",
      "added come",
      "removed gone",
    ]);
    expect(diff.counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(diff.classes).toMatchObject({ added: ["fresh"], removed: ["old"], moved: [] });
    expect(await get("diff", "/api/diff?before=2&after=2")).toMatchObject({ total: 0, isPartial: false });
  });

  it("is of the last two publications unless told otherwise, and goes back as it goes forth", async () => {
    const [forth, back] = [await get("diff", "/api/diff"), await get("diff", "/api/diff?before=2&after=1")];
    expect(forth.counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect(back.resources.map(({ change }: { change: string }) => change)).toEqual(["changed", "removed", "added"]);
  });

  it("follows proxies into another class", async () => {
    const world = worldOf({ later: { clusters: { a: "3" } } });
    await test.publish({
      ...worldOf({ web: { clusters: { a: "2" } } }),
      nodes: [{ keys: ["web-1.shop"], classId: "web" }],
    });
    await test.publish({ ...world, nodes: [{ keys: ["web-1.shop"], classId: "later" }] });
    const diff = await get("diff", "/api/diff");
    expect(diff.classes.moved).toEqual([{ before: "web", after: "later", who: ["web-1.shop"], moreWho: 0 }]);
    expect(diff.resources).toMatchObject([{ name: "a", classId: "later", earlierId: "web" }]);
    const places = await get("resourceDiff", "/api/diff/resource?type=clusters&class=later&earlier=web&name=a");
    expect(places.change).toBe("changed");
  });

  it("says place by place where a resource differs", async () => {
    const { places, morePlaces } = await get("resourceDiff", "/api/diff/resource?type=clusters&class=web&name=a");
    expect([places, morePlaces]).toEqual([[{ path: "content", before: '"1"', after: '"2"' }], 0]);
    expect((await test.request("/api/diff/resource?type=clusters&class=web&name=none")).status).toBe(404);
  });
});

describe("nodes", () => {
  it("are not told of where nobody keeps what they have", async () => {
    expect(await get("nodes", "/api/nodes")).toEqual({ isKept: false, total: 0, nodes: [] });
  });

  it("are told of with how many records of other fronts were not read", async () => {
    const report = async () => ({ nodes: [], more: 0, unread: 3 });
    test = testFront({ nodes: { ...noNodes, report } });
    await test.publish(worldOf({ web: {} }));
    expect(await get("nodes", "/api/nodes")).toEqual({ isKept: true, total: 0, nodes: [], unread: 3 });
  });

  it("that have no class are told of with what to do", async () => {
    await test.poll("clusters", pollBody("clusters", nodeOf("stranger")));
    const { strangers } = await get("trouble", "/api/trouble");
    expect(strangers).toMatchObject([{ kind: "unknown", remedy: expect.stringContaining("portolan bootstrap") }]);
  });
});

const move = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  test.request("http://127.0.0.1:8080/api/moves", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { host: "127.0.0.1:8080", "content-type": "application/json", ...headers },
  });

describe("a move", () => {
  it("leads everybody back, says who did it, and lets go again", async () => {
    const { entries } = Object(await (await test.request("/api/history")).json());
    const body = { move: "rollback", to: entries[1].root, generation: 2, why: "checkout is down" };
    const response = await move(body);
    const answer = Object(await response.json());
    expect([response.status, answer.generation, answer.root]).toEqual([200, 3, entries[1].root]);
    expect(described.move.answer.strict().safeParse(answer).success).toBe(true);
    expect(await get("overview", "/api/overview")).toMatchObject({
      served: entries[1].root,
      pin: { by: "console", why: "checkout is down" },
      moves: { isHere: true },
    });
    expect((await move({ move: "unpin", generation: 3, why: "mended" })).status).toBe(200);
    expect((await get("overview", "/api/overview")).served).toBe(entries[0].root);
  });

  it("promotes a canary, and ends one", async () => {
    const { entries } = Object(await (await test.request("/api/history")).json());
    const canary = { root: entries[1].root, percent: 10, labels: {} };
    await setCanary(test.store, canary, { pace });
    expect((await move({ move: "abort", generation: 3, why: "too many 503" })).status).toBe(200);
    await setCanary(test.store, canary, { pace });
    expect((await move({ move: "promote", generation: 5, why: "all well" })).status).toBe(200);
    expect((await get("overview", "/api/overview")).served).toBe(entries[1].root);
  });

  it("is not made by who has seen another HEAD, nor where there is nothing to move", async () => {
    expect((await move({ move: "unpin", generation: 1, why: "x" })).status).toBe(409);
    const response = await move({ move: "promote", generation: 2, why: "x" });
    expect([response.status, await response.text()]).toEqual([409, expect.stringContaining("canary")]);
    expect((await move({ move: "rollback", to: "0".repeat(64), generation: 2, why: "x" })).status).toBe(409);
  });

  it("is held against HEAD as it is in the store, whatever this front remembers of it", async () => {
    const { watch: _, ...store } = test.store;
    const { entries } = Object(await (await test.request("/api/history")).json());
    const remembering = testFront({ store, headTtlMs: 3_600_000, moves: storeMoves(store, { pace }) });
    const ask = async (body: object) => {
      const response = await remembering.request("http://127.0.0.1:8080/api/moves", {
        method: "POST",
        body: JSON.stringify({ why: "x", ...body }),
        headers: { host: "127.0.0.1:8080", "content-type": "application/json" },
      });
      return [response.status, JSON.stringify(await response.json())];
    };
    await remembering.front.heads.current();
    await test.publish(worldOf({ web: { clusters: { a: "3" } } }));
    const refusal = [409, expect.stringContaining("HEAD has moved on to generation 3 since you looked")];
    expect(await ask({ move: "rollback", to: entries[1].root, generation: 2 })).toEqual(refusal);
    expect((await remembering.front.heads.current())?.generation).toBe(2);
    expect(await ask({ move: "rollback", to: entries[1].root, generation: 3 })).toEqual([200, expect.anything()]);
    expect(await ask({ move: "unpin", generation: 4 })).toEqual([200, expect.anything()]);
  });

  it.each([
    ["no reason", { move: "unpin", generation: 2, why: " " }],
    ["a version that is no hash", { move: "rollback", to: "HEAD", generation: 2, why: "x" }],
    ["another member", { move: "unpin", generation: 2, why: "x", by: "somebody else" }],
    ["another verb", { move: "publish", generation: 2, why: "x" }],
    ["a member that every object has", { move: "unpin", generation: 2, why: "x", toString: 1 }],
  ])("is refused with %s", async (_, body) => {
    expect((await move(body)).status).toBe(400);
  });

  it.each([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["another site, in an old browser", { origin: "https://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:9999", "sec-fetch-site": "same-site" }],
    ["a page without an origin", { origin: "null" }],
    [
      "a name that somebody gave this address",
      { host: "evil.example", origin: "http://evil.example", "sec-fetch-site": "same-origin" },
    ],
    ["a name that only ends as an address of this machine", { host: "evil.example@127.0.0.1:8080" }],
    ["a form", { "content-type": "text/plain" }],
    ["a proxy that asks nobody who he is", { "x-forwarded-for": "203.0.113.5" }],
  ])("is not taken from %s", async (_, headers) => {
    expect((await move({ move: "unpin", generation: 2, why: "x" }, headers)).status).toBe(403);
    expect((await get("overview", "/api/overview")).generation).toBe(2);
  });

  it("is taken from the console's own page", async () => {
    const own = { origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" };
    const { entries } = Object(await (await test.request("/api/history")).json());
    expect((await move({ move: "rollback", to: entries[1].root, generation: 2, why: "x" }, own)).status).toBe(200);
  });

  it("is an operator's, by the name that was proven, whatever the host is called", async () => {
    const key = await makeSigningKey("tokens");
    const authentication = readAuthentication(JSON.stringify({ tokens: { keys: [publicPart(key)] } }), {
      now: () => nowMs,
    });
    const { store } = test;
    test = testFront({ store, authentication, moves: storeMoves(store, { pace }) });
    const operator = { authorization: `Bearer ${await tokenOf(key, { scope: "operator" })}`, host: "mesh.example" };
    const node = { authorization: `Bearer ${await tokenOf(key, { scope: "node", namespace: "default" })}` };
    const { entries } = Object(await (await test.request("/api/history", { headers: operator })).json());
    const body = { move: "rollback", to: entries[1].root, generation: 2, why: "x" };
    expect((await move(body)).status).toBe(401);
    expect((await move(body, node)).status).toBe(403);
    const answer = Object(await (await move(body, operator)).json());
    expect(answer).toMatchObject({ generation: 3, by: "a test" });
  });

  it("is not made by a front that only reads", async () => {
    test = testFront({ store: test.store });
    expect((await move({ move: "unpin", generation: 2, why: "x" })).status).toBe(403);
    expect((await get("overview", "/api/overview")).moves.isHere).toBe(false);
  });
});
