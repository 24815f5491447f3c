import { describe, expect, it } from "vitest";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { moveHead } from "../../lib/snapshot/head/move-head.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const names = Array.from({ length: 200 }, (_, i) => `web-${i}`);
const world = (content: string) =>
  worldOf(
    { web: { clusters: { a: content } } },
    { nodes: names.map((name) => ({ keys: [`${name}.default`], classId: "web" })) },
  );

async function scene() {
  const test = testFront();
  await test.publish(world("stable"));
  const staged = await createPublisher(test.store).stage(world("canary"));
  const setCanary = async (percent: number, labels: Readonly<Record<string, string>> = {}) => {
    const base = await readHead(test.store);
    const canary = { root: staged, percent, labels };
    await moveHead(test.store, base, { steps: base?.head.steps ?? [], canary, reason: "canary" }, Date.now());
  };
  const ask = async (name: string, version?: string, labels = {}) => {
    const response = await test.poll(
      "clusters",
      pollBody("clusters", nodeOf(name, labels), { ...(version && { version }) }),
    );
    const text = await response.text();
    return {
      status: response.status,
      content: /"content":"(\w+)"/.exec(text)?.[1],
      version: /"version_info":"(\w+)"/.exec(text)?.[1],
    };
  };
  const inCanary = async () => {
    const answers = await Promise.all(names.map(async (name) => [name, (await ask(name)).content] as const));
    return answers.filter(([, content]) => content === "canary").map(([name]) => name);
  };
  return { setCanary, ask, inCanary };
}

describe("a canary", () => {
  it("is served to about its share of the nodes, always the same ones, and only more when the share grows", async () => {
    const { setCanary, inCanary } = await scene();
    await setCanary(10);
    const few = await inCanary();
    expect(few.length).toBeGreaterThan(5);
    expect(few.length).toBeLessThan(45);
    expect(await inCanary()).toEqual(few);
    await setCanary(50);
    const more = await inCanary();
    expect(more).toEqual(expect.arrayContaining(few));
    expect(more.length).toBeGreaterThan(60);
    await setCanary(100);
    expect(await inCanary()).toEqual(names);
  });

  it("is served to the nodes with its labels, also when they have it already", async () => {
    const { setCanary, ask } = await scene();
    await setCanary(0, { track: "canary" });
    const labels = { track: "canary" };
    const first = await ask("web-1", undefined, labels);
    expect(first.content).toBe("canary");
    expect((await ask("web-1", first.version, labels)).status).toBe(304);
    expect((await ask("web-2")).content).toBe("stable");
  });
});
