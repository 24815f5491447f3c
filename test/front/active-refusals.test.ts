import { expect, it } from "vitest";
import { createFront } from "../../lib/front/front.ts";
import { prometheusMetrics } from "../../lib/front/prometheus.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

it("refusals that stand are counted by type until they stand no more, those of polls and those that are said", async () => {
  const metrics = prometheusMetrics();
  const front = createFront({ store: memoryStore(), metrics });
  const active = async () => {
    const { text = "" } = (await metrics.render?.()) ?? {};
    return [...text.matchAll(/^portolan_refusals_standing\{type="(\w+)"\} ([1-9]\d*)$/gm)].map(
      ([, type, count]) => `${type} ${count}`,
    );
  };
  const { text = "" } = (await metrics.render?.()) ?? {};
  expect(text).toContain('portolan_refusals_standing{type="secrets"} 0');
  const poll = { nodeId: "web", type: "routes", name: "80" } as const;
  const answer = { kept: "1", version: "2", classId: "c", root: "r" };
  front.refusals.served(poll, answer);
  for (let asked = 0; asked < 2; asked++) front.refusals.asked(poll, "1");
  front.said.refused({ nodeId: "db", type: "routes" }, { answer, names: [], error: "no" });
  front.said.refused({ nodeId: "db", type: "secrets" }, { answer, names: [], error: "no" });
  expect(await active()).toEqual(["routes 2", "secrets 1"]);
  front.refusals.asked(poll, "2");
  front.said.mended({ nodeId: "db", type: "secrets" });
  expect(await active()).toEqual(["routes 1"]);
  front.close();
});
