import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasShared, sharedFolder } from "../../shared.ts";
import { lacks } from "../../skip.ts";
import { propertyRuns } from "../../soak-options.ts";
import { carriedCases } from "../carried-cases.ts";
import type { Json } from "../json.ts";
import { trialCases } from "../trial-cases.ts";
import { caseNames, expectedReader, partsFolder, suiteTexts, writeSuite } from "./case-store.ts";
import { expandCase } from "./expand.ts";
import type { Expected } from "./expected.ts";
import { importCases } from "./import-cases.ts";
import { shareParts } from "./share-parts.ts";
import { fromYamlText, yamlText } from "./yaml-text.ts";

/** Values of which some are large enough to become parts, and which repeat. */
const long = fc.constantFrom("a", "b", "c").map((letter) => letter.repeat(450));
const leaf = fc.oneof(
  long,
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const within = (inner: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof(
    leaf,
    fc.array(inner, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("name", "filters", "ünicode: ", "7", "yes"), inner, { maxKeys: 3 }),
  );
const json = within(within(within(within(leaf))));
const proxies = fc.dictionary(
  fc.constantFrom("client-1", "gateway-1"),
  fc.record({ listeners: fc.array(json), routes: json }),
);
const suites = fc
  .dictionary(fc.constantFrom("one", "two", "three"), proxies)
  .map((cases) => new Map<string, Expected>(Object.entries(JSON.parse(JSON.stringify(cases)))));

describe("shareParts", () => {
  it("loses nothing", () => {
    fc.assert(
      fc.property(suites, (suite) => {
        const { parts, cases } = shareParts(suite);
        for (const [name, abridged] of cases) {
          expect(expandCase(JSON.parse(JSON.stringify(abridged)), parts)).toEqual(suite.get(name));
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it("gives the same whatever the order of the cases", () => {
    fc.assert(
      fc.property(suites, (suite) => {
        expect(suiteTexts(shareParts(new Map([...suite].reverse())))).toEqual(suiteTexts(shareParts(suite)));
      }),
    );
  });

  const large = { name: "virtualInbound", note: "x".repeat(500) };
  const answers = (...listeners: readonly (typeof large)[]): Expected => ({ "client-1": { listeners } });

  it("leaves alone what stands in one place", () => {
    const { parts, cases } = shareParts(new Map([["one", answers(large)]]));
    expect([parts, cases.get("one")]).toEqual([{}, { answers: answers(large) }]);
  });

  it("keeps a part with the only case that has it, and gives one of several cases to the suite", () => {
    const other = { ...large, name: "other" };
    const suite = new Map([
      ["one", answers(large, other, other)],
      ["two", answers(large)],
    ]);
    const { parts, cases } = shareParts(suite);
    expect(Object.values(parts.listeners ?? {})).toEqual([large]);
    expect(Object.values(cases.get("one")?.parts?.listeners ?? {})).toEqual([other]);
    expect(cases.get("two")).toEqual({
      answers: { "client-1": { listeners: [{ $ref: expect.stringMatching(/^virtualInbound-[0-9a-f]{8}$/) }] } },
    });
  });

  it("refuses an answer that looks like a reference", () => {
    const suite = new Map([["one", { "client-1": { listeners: [{ $ref: "x" }] } }]]);
    expect(() => shareParts(suite)).toThrow("looks like a reference");
  });
});

describe("expandCase", () => {
  const answers = { "client-1": { listeners: [{ $ref: "a" }] } };

  it("refuses a part that is not there", () => {
    expect(() => expandCase({ answers }, {})).toThrow("there is no part a");
  });

  it("refuses a part that contains itself", () => {
    const parts = { listeners: { a: [{ $ref: "b" }], b: { inner: { $ref: "a" } } } };
    expect(() => expandCase({ answers }, parts)).toThrow("the part a contains itself");
  });
});

describe("the YAML of a case", () => {
  it("means the JSON that it was written from", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(fromYamlText(yamlText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("gives each resource a line of its own", () => {
    expect(yamlText([{ name: "a" }, { $ref: "b" }])).toBe("- {name: a}\n- {$ref: b}\n");
  });
});

/** Holds every file of a suite against what an import of its own cases writes. */
function expectImported(folder: string): void {
  const read = expectedReader();
  const names = caseNames(folder);
  const texts = suiteTexts(shareParts(new Map(names.map((name) => [name, read(join(folder, name))]))));
  for (const [path, text] of texts) expect(readFileSync(join(folder, path), "utf8"), path).toBe(text);
  const parts = readdirSync(join(folder, partsFolder)).map((file) => join(partsFolder, file));
  expect(parts.filter((path) => !texts.has(path))).toEqual([]);
}

describe("the carried cases of Istio's own proxies", () => {
  it("are written as an import writes them", () => expectImported(join(fileURLToPath(carriedCases), "istio-proxies")));
});
describe.each(["v3", "gateway-api", "grpc", "v3-next"])("the carried cases of %s", (suite) => {
  const folder = join(fileURLToPath(carriedCases), suite);
  const names = caseNames(folder);
  const read = expectedReader();

  it("are written as an import writes them", () => expectImported(folder));

  it.skipIf(lacks(hasShared, "the recorded answers in ../shared"))("say to the last value what was recorded", () => {
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const trial = trialCases[name];
      const place = trial === undefined ? `conformance/${suite}/${name}` : `trials/config/${trial}`;
      const recorded = fileURLToPath(new URL(place, sharedFolder));
      expect(read(join(folder, name)), name).toEqual(read(recorded));
      // What a trial is about is said anew here.
      const isCompared = (path: string) =>
        !path.startsWith("expected") && (trial === undefined || path !== "about.txt");
      for (const file of filesOf(recorded).filter(isCompared)) {
        expect(readFileSync(join(folder, name, file), "utf8"), `${name}/${file}`).toBe(
          readFileSync(join(recorded, file), "utf8"),
        );
      }
    }
  });
});

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.\w+$/.test(path));
}

describe("importCases", () => {
  it("replaces a case, keeps the others, and says anew what they share", async () => {
    const root = await mkdtemp(join(tmpdir(), "portolan-import-"));
    const [source, target] = [join(root, "recorded"), join(root, "kept")];
    const listener = (note: string) => ({ "client-1": { listeners: [{ name: "l", note: note.repeat(500) }] } });
    writeSuite(
      target,
      shareParts(
        new Map([
          ["kept", listener("a")],
          ["replaced", listener("a")],
        ]),
      ),
    );
    writeSuite(
      source,
      shareParts(
        new Map([
          ["replaced", listener("b")],
          ["foreign", listener("c")],
        ]),
      ),
    );
    expect(existsSync(join(target, partsFolder, "listeners.yaml"))).toBe(true);

    expect(importCases(source, target, (name) => name !== "foreign")).toEqual({
      taken: ["replaced"],
      left: ["foreign"],
    });

    const read = expectedReader();
    expect(caseNames(target)).toEqual(["kept", "replaced"]);
    expect(read(join(target, "kept"))).toEqual(listener("a"));
    expect(read(join(target, "replaced"))).toEqual(listener("b"));
    expect(existsSync(join(target, partsFolder))).toBe(false);
    await rm(root, { recursive: true });
  });
});
