import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { newestRelease } from "../../lib/config/compat/compat-settings.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { FormName } from "../../lib/mesh/forms.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf, suitesOf } from "../conformance/suites.ts";
import { wholeResources } from "../whole-resources.ts";
import { admit, complaint, newCrowd } from "./crowd.ts";

const formCases = fileURLToPath(new URL("../conformance/form-cases/", import.meta.url));
const suites = [
  ...suitesOf("v3", "v3-samples", "gateway-api", "v3-next").map((suite) => ({ suite, cases: casesOf(suite) })),
  { suite: "form-cases", cases: readdirSync(formCases).map((name) => ({ name, path: join(formCases, name) })) },
];
/** A patch of the first asks for two rewrites of one path, Istio writes both, and Envoy refuses the route. The other is of gRPC programs. */
const isTaken = ({ name }: { readonly name: string }): boolean => name !== "ef-value-oneof" && name !== "nx-grpc-scope";
const formNames: readonly FormName[] = ["istio", "shared"];

describe.each(suites.flatMap((suite) => formNames.map((form) => ({ ...suite, form }))))(
  "Envoy takes the polled resources of every proxy of $suite in the $form form",
  ({ suite, cases: all, form }) => {
    // Suites of Istio 1.30 have the release that they were recorded from; the others show what only the newest writes.
    const reading = suite === "form-cases" || suite === "v3-next" ? { release: newestRelease } : {};
    const cases = all.filter(isTaken);
    const batches = Array.from({ length: Math.ceil(cases.length / 25) }, (_, at) => cases.slice(at * 25, at * 25 + 25));

    it.each(batches.map((batch) => [batch[0]?.name ?? "", batch] as const))("from %s on", (_first, batch) => {
      const crowd = newCrowd();
      for (const { name, path } of batch) {
        const world: World = { ...loadCase(path, reading), compat: form };
        const memo = createMemo();
        const mesh = buildMesh(world, memo).value;
        for (const proxy of world.proxies) {
          const resources = wholeResources(pollShape(generate(mesh, proxy, memo).value, memo));
          // A DNS cache is its Envoy's, and its settings follow the proxy's addresses.
          const isApart = resources.clusters.some(({ json }) => JSON.stringify(json).includes("dnsCacheConfig"));
          const among = isApart ? newCrowd() : crowd;
          admit(among, `${name} ${proxy.id}`, resources);
          if (isApart) expect(complaint(among)).toBe("");
        }
      }
      expect(complaint(crowd)).toBe("");
    });
  },
);
