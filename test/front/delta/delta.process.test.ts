import { setImmediate, setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { type ShapeContents, worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, testFront } from "../fixtures.ts";

interface Delta {
  readonly system_version_info: string;
  readonly nonce: string;
  readonly resources: readonly {
    readonly name: string;
    readonly version: string;
    readonly resource: { readonly content: string };
  }[];
  readonly removed_resources?: readonly string[];
}

const web = (contents: ShapeContents) => worldOf({ web: contents });

async function fetchDelta(
  test: ReturnType<typeof testFront>,
  type: string,
  more: object = {},
): Promise<Delta | number> {
  const body = JSON.stringify({ node: nodeOf("web"), ...more });
  const response = await test.request(`/v3/delta:${type}`, { method: "POST", body });
  return response.status === 200 ? JSON.parse(await response.text()) : response.status;
}

const expectDelta = (answer: Delta | number): Delta => {
  if (typeof answer === "number") throw new Error(`status ${answer}`);
  return answer;
};

describe("POST /v3/delta:<type>", () => {
  it("says of a type that nobody has anything of that it is current, so that a reader waits instead of asking again and again", async () => {
    const test = testFront();
    await test.publish(web({ routes: { "80": "a" } }));
    const { system_version_info: version, resources } = expectDelta(await fetchDelta(test, "extension_configs"));
    expect([version, resources]).toEqual([expect.stringMatching(/^\w{32}$/), []]);
    expect(await fetchDelta(test, "extension_configs", { response_nonce: version })).toBe(304);
  });

  it("sends everything to a reader who has nothing, by names only what it asks for", async () => {
    const test = testFront();
    await test.publish(web({ routes: { "80": "a", "8080": "b" } }));
    const all = expectDelta(await fetchDelta(test, "routes"));
    expect(all.resources.map(({ name, resource }) => [name, resource.content])).toEqual([
      ["80", "a"],
      ["8080", "b"],
    ]);
    const one = expectDelta(await fetchDelta(test, "routes", { resource_names_subscribe: ["8080", "none"] }));
    expect(one.resources.map(({ name }) => name)).toEqual(["8080"]);
    expect(one.removed_resources).toEqual(["none"]);
  });

  it("says 304 to a reader who names the version it was given last", async () => {
    const test = testFront();
    await test.publish(web({ clusters: { a: "1" } }));
    const { nonce } = expectDelta(await fetchDelta(test, "clusters"));
    expect(await fetchDelta(test, "clusters", { response_nonce: nonce })).toBe(304);
  });

  it.each([
    ["no node", { node: undefined }, 400],
    ["an unknown node", { node: { id: "x" } }, 404],
    ["another type", { type_url: "type.googleapis.com/other" }, 400],
    ["names that are no list", { resource_names_subscribe: "a" }, 400],
    ["versions that are no texts", { initial_resource_versions: { a: 1 } }, 400],
  ])("refuses %s", async (_what, more, status) => {
    const test = testFront();
    await test.publish(web({ clusters: { a: "1" } }));
    expect(await fetchDelta(test, "clusters", more)).toBe(status);
  });

  it("keeps what a node refuses when an older request of it, which says nothing of that, is woken", async () => {
    const test = testFront({ maxHoldMs: 60_000 });
    await test.publish(web({ clusters: { a: "1" } }));
    const { nonce } = expectDelta(await fetchDelta(test, "clusters"));
    const headers = { "x-envoy-expected-rq-timeout-ms": "8000" };
    const body = JSON.stringify({ node: nodeOf("web"), response_nonce: nonce });
    const older = test.request("/v3/delta:clusters", { method: "POST", headers, body });
    await setImmediate();
    const error_detail = { message: "a is refused", details: [{ resource_name: "a" }] };
    await fetchDelta(test, "clusters", { response_nonce: nonce, error_detail });
    // What has changed is none of theirs.
    await test.publish(web({ clusters: { a: "1" }, routes: { "80": "a" } }));
    await setTimeout(500);
    expect(await (await test.request("/refusals")).text()).toContain("a is refused");
    expect((await older).status).toBe(304);
    await fetchDelta(test, "clusters", { response_nonce: nonce });
    expect(await (await test.request("/refusals")).text()).not.toContain("a is refused");
  });

  it("leads a reader from any state to any other: what it had, plus the delta, is what there is", async () => {
    const contents = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), fc.constantFrom("1", "2"), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(contents, contents, async (before, after) => {
        const test = testFront();
        await test.publish(web({ clusters: before }));
        const first = expectDelta(await fetchDelta(test, "clusters"));
        const state = new Map(first.resources.map((resource) => [resource.name, resource]));
        await test.publish(web({ clusters: after }));
        const initial_resource_versions = Object.fromEntries([...state].map(([name, { version }]) => [name, version]));
        const delta = expectDelta(await fetchDelta(test, "clusters", { initial_resource_versions }));
        for (const resource of delta.resources) {
          expect(state.get(resource.name)?.version).not.toBe(resource.version);
          state.set(resource.name, resource);
        }
        for (const name of delta.removed_resources ?? []) state.delete(name);
        expect(Object.fromEntries([...state].map(([name, { resource }]) => [name, resource.content]))).toEqual(after);
      }),
    );
  });
});

describe("DeltaFetch in JSON", () => {
  const call = (test: ReturnType<typeof testFront>, message: object, timeoutMs = 5_000) =>
    test.request("/portolan.v1.SnapshotService/DeltaFetch", {
      method: "POST",
      headers: { "content-type": "application/json", "connect-timeout-ms": String(timeoutMs) },
      body: JSON.stringify({ node: nodeOf("web"), type_url: typeUrlOf("clusters"), ...message }),
    });

  it("answers as POST /v3/delta does, and says in Connect's words that a version is current", async () => {
    const test = testFront();
    await test.publish(web({ clusters: { a: "1" } }));
    const response = await call(test, {});
    const answer: Delta = JSON.parse(await response.text());
    expect(answer).toEqual(await fetchDelta(test, "clusters"));
    const again = await call(test, { response_nonce: answer.nonce });
    expect([again.status, await again.json()]).toEqual([
      409,
      { code: "already_exists", message: "the version is current" },
    ]);
    const stranger = await call(test, { node: { id: "x" } });
    expect([stranger.status, await stranger.json()]).toEqual([404, expect.objectContaining({ code: "not_found" })]);
  });

  it("is held as long as its caller waits, less five seconds, until there is something new", async () => {
    const test = testFront({ maxHoldMs: 60_000 });
    await test.publish(web({ clusters: { a: "1" } }));
    const { nonce } = expectDelta(await fetchDelta(test, "clusters"));
    const held = call(test, { response_nonce: nonce }, 30_000);
    await setTimeout(50);
    await test.publish(web({ clusters: { a: "2" } }));
    const answer: Delta = JSON.parse(await (await held).text());
    expect(answer.resources.map(({ resource }) => resource.content)).toEqual(["2"]);
    const before = performance.now();
    expect((await call(test, { response_nonce: answer.nonce }, 5_300)).status).toBe(409);
    expect(performance.now() - before).toBeGreaterThan(250);
  });
});
