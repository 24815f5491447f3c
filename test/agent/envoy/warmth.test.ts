import { describe, expect, it } from "vitest";
import { isWarm } from "../../../lib/agent/envoy/warmth.ts";

const pageOf = (clusters: number, listeners: number) =>
  `cluster_manager.warming_clusters: ${clusters}\nlistener_manager.total_listeners_warming: ${listeners}\n`;

describe("whether an Envoy is warm", () => {
  it.each([
    ["nothing waits", pageOf(0, 0), true],
    ["a cluster waits", pageOf(1, 0), false],
    ["listeners wait", pageOf(0, 10), false],
    ["it says one of them only", "cluster_manager.warming_clusters: 0\n", false],
    ["it does not answer", undefined, false],
  ])("is asked in one request: %s", async (_case, page, isIt) => {
    const paths: string[] = [];
    const admin = {
      async page(path: string) {
        paths.push(path);
        return page;
      },
    };
    expect(await isWarm(admin)).toBe(isIt);
    const filter = "^(cluster_manager\\.warming_clusters|listener_manager\\.total_listeners_warming)$";
    expect(paths).toEqual([`/stats?type=Gauges&filter=${encodeURIComponent(filter)}`]);
  });

  it("is not where the place of its admin interface is not known", async () => {
    expect(await isWarm(undefined)).toBe(false);
  });
});
