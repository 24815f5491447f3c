import { describe, expect, it } from "vitest";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { binaryForm, checkResource } from "../../../lib/xds/descriptors.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { loadCase } from "../../conformance/load-case.ts";
import { casesOf } from "../../conformance/suites.ts";
import { wholeResources } from "../../whole-resources.ts";

const cases = casesOf("istio-proxies").filter(({ name }) => name.startsWith("im-"));

describe("answers with Istio's filters", () => {
  it.each(cases.map(({ name, path }) => [name, path] as const))(
    "have a binary form, which streams want: %s",
    (_, path) => {
      const memo = createMemo();
      const world = loadCase(path, { build: "istio" });
      const mesh = buildMesh(world, memo).value;
      let count = 0;
      for (const proxy of world.proxies) {
        const resources = wholeResources(generate(mesh, proxy, memo).value);
        for (const type of ["clusters", "listeners"] as const) {
          for (const resource of resources[type]) {
            expect(checkResource(type, resource), resource.name).toBeUndefined();
            const bytes = binaryForm(type, resource);
            expect(bytes, resource.name).toBeDefined();
            // Field names and types of Istio's messages are in the bytes as texts.
            const names = JSON.stringify(resource.json).split('"istio.metadata_exchange"').length - 1;
            count += names;
            const inBytes =
              Buffer.from(bytes ?? [])
                .toString("latin1")
                .split("istio.metadata_exchange").length - 1;
            expect(inBytes, resource.name).toBe(names);
          }
        }
      }
      expect(count).toBeGreaterThan(10);
    },
  );
});
