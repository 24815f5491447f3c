import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { enterAll } from "../../../lib/mesh/classes/enter-classes.ts";
import { below } from "../../../lib/mesh/views/view-columns.ts";
import { tracedViewsOf } from "../../../lib/mesh/views/views-of.ts";
import { service, sidecar, world } from "../parts.ts";

describe("proxies whose views have the same keys", () => {
  it.each([
    ["nothing", noMemo],
    ["everything", createMemo()],
  ])("are one class where %s is remembered, be their views the same objects or not", (_what, memo) => {
    const proxy = sidecar("web.shop");
    const of = world({ services: [service({ at: "a.example@shop" })], proxies: [proxy] });
    // Of two meshes the views are two objects each, with the same keys.
    const [one, other] = [createMemo(), createMemo()].map(
      (own) => tracedViewsOf(buildMesh(of, own).value, of.proxies, own, "proxies").views,
    );
    if (one === undefined || other === undefined) throw new Error("no views");
    const { ids, classes } = enterAll([...of.proxies, ...of.proxies], below(noMemo, one, other), memo);
    expect(new Set(ids).size).toBe(1);
    expect(classes.ids).toEqual([ids[0]]);
  });
});
