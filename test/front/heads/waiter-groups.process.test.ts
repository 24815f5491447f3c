import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noMetrics } from "../../../lib/front/metrics.ts";
import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { type ShapeContents, worldOf } from "../../snapshot/worlds.ts";
import { propertyRuns } from "../../soak-options.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const patience = { "x-envoy-expected-rq-timeout-ms": "65000" };

/** A front that holds polls, and how often one has begun to wait. */
function holding() {
  const waits = { begun: 0 };
  const metrics = {
    ...noMetrics,
    held: (difference: 1 | -1) => {
      if (difference === 1) waits.begun += 1;
    },
  };
  const test = testFront({ maxHoldMs: 60_000, headTtlMs: 1_000, metrics });
  const asked = (type: ResourceType, node: object, version?: string) => {
    const names = type === "routes" ? { names: ["80"] } : {};
    return test.poll(type, pollBody(type, node, { ...names, ...(version === undefined ? {} : { version }) }), patience);
  };
  const versionOf = async (type: ResourceType, node: object): Promise<string> =>
    JSON.parse(await (await asked(type, node)).text()).version_info;
  return {
    ...test,
    waits,
    /** Holds a poll of a node that has what is in force; `answered` is its status, once there is one. */
    async hold(type: ResourceType, node: object) {
      const version = await versionOf(type, node);
      const before = waits.begun;
      const poll: { answered: number | undefined } = { answered: undefined };
      const answer = asked(type, node, version).then(({ status }) => {
        poll.answered = status;
      });
      while (waits.begun === before) await setImmediate();
      return { poll, version, answer };
    },
  };
}

const byProjection = (
  classes: Readonly<Record<string, ShapeContents>>,
  placed: Readonly<Record<string, string>>,
): CompiledWorld => ({
  ...worldOf(classes),
  classifier: {
    attributes: ["namespace", "type"],
    labels: { "*": { keys: ["app"] } },
    classes: Object.fromEntries(
      Object.entries(placed).map(([app, id]) => [JSON.stringify(["default", "sidecar", app]), id]),
    ),
    defaults: {},
  },
  nodes: [],
});

describe("a change", () => {
  it("wakes the held polls of the class and the type that it is about, and no others", async () => {
    const test = holding();
    const world = (web: string, pay: string, route: string) =>
      worldOf({ web: { clusters: { a: web }, routes: { "80": route } }, pay: { clusters: { a: pay } } });
    await test.publish(world("1", "1", "1"));
    const web = await Promise.all(
      ["clusters", "routes"].map((type) => test.hold(type === "routes" ? "routes" : "clusters", nodeOf("web"))),
    );
    const { waits } = test;
    const begun = waits.begun;
    await test.publish(world("1", "2", "1"));
    await sleep(100);
    expect([waits.begun, ...web.map(({ poll }) => poll.answered)]).toEqual([begun, undefined, undefined]);
    await test.publish(world("1", "2", "2"));
    await web[1]?.answer;
    await sleep(50);
    expect([waits.begun, ...web.map(({ poll }) => poll.answered)]).toEqual([begun, undefined, 200]);
    await test.publish(world("2", "2", "2"));
    await web[0]?.answer;
    expect([waits.begun, web[0]?.poll.answered]).toEqual([begun, 200]);
  });

  it("wakes a node that it moves to another class, though neither class has changed", async () => {
    const test = holding();
    const classes = { one: { clusters: { a: "1" } }, two: { clusters: { b: "1" } } };
    await test.publish(byProjection(classes, { web: "one" }));
    const { poll, answer } = await test.hold("clusters", nodeOf("web", { app: "web" }));
    await test.publish(byProjection(classes, { web: "two" }));
    await answer;
    expect(poll.answered).toBe(200);
  });

  it("is told to whoever has something else then, after any edits, and to nobody else", async () => {
    const contents = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("1", "2"), { minKeys: 1 });
    const placed = fc.record({ web: fc.constantFrom("one", "two"), pay: fc.constantFrom("one", "two") });
    const worlds = fc.array(fc.record({ one: contents, two: contents, placed }), { minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(worlds, async ([first, ...edits]) => {
        if (first === undefined) return;
        const test = holding();
        const worldFor = ({ one, two, placed: places }: typeof first) =>
          byProjection({ one: { clusters: one }, two: { clusters: two } }, places);
        await test.publish(worldFor(first));
        const apps = ["web", "pay"] as const;
        const held = await Promise.all(apps.map((app) => test.hold("clusters", nodeOf(app, { app }))));
        let now = first;
        const had = apps.map((app) => JSON.stringify(now[now.placed[app] === "one" ? "one" : "two"]));
        const isTold = new Set<string>();
        for (const edit of edits) {
          now = edit;
          await test.publish(worldFor(edit));
          await sleep(20);
          for (const [i, app] of apps.entries()) {
            const has = Object.entries(now[now.placed[app]]).sort();
            if (JSON.stringify(has) !== JSON.stringify(Object.entries(JSON.parse(had[i] ?? "")).sort()))
              isTold.add(app);
          }
          expect(apps.filter((_app, i) => held[i]?.poll.answered === 200)).toEqual(
            apps.filter((app) => isTold.has(app)),
          );
        }
        test.front.close();
      }),
      { numRuns: propertyRuns(30) },
    );
  }, 60_000);
});
