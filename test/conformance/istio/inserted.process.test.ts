import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../lib/config/canonical-json.ts";
import { carriedCases } from "../carried-cases.ts";
import type { JsonObject } from "../json.ts";
import { normaliseFile } from "../normalise.ts";
import { caseNames, expectedReader } from "../store/case-store.ts";
import { trialCases } from "../trial-cases.ts";
import { putBack, takeOut } from "./inserted.ts";
import { filterName, insertedCases, insertedIn, insertedSuites, knownFilters } from "./stored.ts";

describe.each(insertedSuites)("Istio's filters in the cases of %s", (suite) => {
  const folder = join(fileURLToPath(carriedCases), suite);

  it("are known of every case that was recorded as one", () => {
    const names = caseNames(folder).map((name) => basename(name));
    expect(insertedCases(suite)).toEqual(names.filter((name) => trialCases[name] === undefined));
  });

  it("stand where they are said to stand, and are all that normalising takes out", () => {
    const read = expectedReader();
    const known = knownFilters();
    let count = 0;
    for (const name of insertedCases(suite)) {
      const inserted = insertedIn(suite, name);
      for (const [proxy, files] of Object.entries(read(join(folder, name)))) {
        for (const type of ["clusters", "listeners"]) {
          const stripped = files[type] ?? [];
          const whole = putBack(stripped, inserted[proxy]?.[type] ?? [], known);
          const where = `${name}/${proxy}/${type}`;
          expect(canonicalJson(normaliseFile(whole)), where).toBe(canonicalJson(normaliseFile(stripped)));
          expect(takeOut(whole, filterName), where).toEqual(inserted[proxy]?.[type] ?? []);
          count += JSON.stringify(whole).split('"istio.').length - 1;
        }
      }
    }
    expect(count).toBeGreaterThan(10_000);
  });
});

describe("putBack", () => {
  const filter: JsonObject = { name: "istio.alpn", typedConfig: { "@type": "type.googleapis.com/stats.PluginConfig" } };
  const known = { alpn: filter };

  it("makes the list anew that such filters alone stood in", () => {
    expect(putBack([{ name: "a" }], [{ in: ["a"], filters: { alpn: ["filters.0"] } }], known)).toEqual([
      { name: "a", filters: [filter] },
    ]);
  });

  it.each([
    [[{ in: ["b"], filters: { alpn: ["filters.0"] } }], "no b"],
    [[{ in: ["a"], filters: { other: ["filters.0"] } }], "no filter other"],
    [[{ in: ["a"], filters: { alpn: ["filters.1"] } }], "no place filters.1"],
    [[{ in: ["a"], filters: { alpn: ["chains.0.filters.0"] } }], "nothing at chains.0.filters.0"],
  ])("refuses what does not fit: %j", (inserted, message) => {
    expect(() => putBack([{ name: "a" }], inserted, known)).toThrow(message);
  });
});
