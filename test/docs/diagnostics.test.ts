import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { analyze } from "../../lib/analysis/analyze.ts";
import type { Diagnostic } from "../../lib/base/diagnostic.ts";
import { diagnosticCodes } from "../../lib/base/diagnostic-codes.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { saidBy } from "../compile/said-by.ts";
import { type Entry, type Example, entriesOf, examplesOf, worldOfExamples } from "./diagnostic-pages.ts";

const lib = resolve(import.meta.dirname, "../../lib");
const world = worldOfExamples();

/** What is said of a folder at the last of some moments: by the compiler, and by `portolan analyze`. */
function saidOf(steps: readonly (readonly SourceFile[])[]): readonly Diagnostic[] {
  const compileFiles = createFileCompiler(defaultWorldOptions);
  let said: readonly Diagnostic[] = [];
  for (const files of steps) {
    const all = [world, ...files];
    said = [
      ...saidBy(() => compileFiles(all, [])),
      ...analyze({ ...readFiles(all), clusterIds: [defaultWorldOptions.clusterId] }),
    ];
  }
  return said;
}

describe("the reference of messages", () => {
  it("gives each declared code one entry and one section of examples, on the page of its room, in order", () => {
    for (const [page, codes] of Object.entries(diagnosticCodes)) {
      expect({ page, codes: entriesOf(page).map(({ code }) => code) }).toEqual({ page, codes });
      expect({ page, codes: examplesOf(page).map(({ code }) => code) }).toEqual({ page, codes });
    }
  });

  it("says of each code how bad it is and what to do", () => {
    const incomplete = entries.filter(
      ({ severities, remedy }) =>
        remedy === "" || severities.length === 0 || !severities.every((one) => /^(?:error|warning|info)$/.test(one)),
    );
    expect(incomplete.map(({ code }) => code)).toEqual([]);
  });

  it("explains each code that no folder can provoke, and gives an example of every other", () => {
    const without = sections.filter(({ steps }) => steps.length === 0);
    expect(without.filter(({ whyNot }) => whyNot === undefined).map(({ code }) => code)).toEqual([]);
  });

  it("has a world for its examples of which there is nothing to say", () => {
    expect(saidOf([[]])).toEqual([]);
  });

  it("declares no code that nothing says", () => {
    const sources = readdirSync(lib, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith("diagnostic-codes.ts"))
      .map((file) => readFileSync(join(lib, file), "utf8"))
      .join("\n");
    expect(entries.filter(({ code }) => !sources.includes(code)).map(({ code }) => code)).toEqual([]);
  });
});

const entries: readonly Entry[] = Object.keys(diagnosticCodes).flatMap((page) => entriesOf(page));
const sections: readonly Example[] = Object.keys(diagnosticCodes).flatMap((page) => examplesOf(page));
const severitiesOf = new Map(entries.map(({ code, severities }) => [code, severities]));
const examples = sections.filter(({ steps }) => steps.length > 0);
const saidOfExamples = new Map<string, readonly Diagnostic[]>();

/** Compiled once, whichever test asks first. */
function saidOfExample({ code, steps }: Example): readonly Diagnostic[] {
  const said = saidOfExamples.get(code) ?? saidOf(steps);
  saidOfExamples.set(code, said);
  return said;
}

describe("the examples of messages", () => {
  it.each(examples)("provoke $code", (example) => {
    const said = saidOfExample(example);
    const found = said.filter((one) => one.code === example.code);
    expect(found.length, said.map((one) => `${one.code} ${one.message}`).join("\n")).toBeGreaterThan(0);
    expect(severitiesOf.get(example.code)).toContain(found[0]?.severity);
  });

  /** A change of words shows in review. `npx vitest run test/docs/diagnostics.test.ts -u` writes the file. */
  it("have the texts of messages.txt", async () => {
    const texts = examples.map((example) => {
      const found = saidOfExample(example).find((one) => one.code === example.code);
      const hint = found?.hint ? `  hint: ${found.hint}\n` : "";
      return `${example.code}\n  ${found?.severity}: ${found?.message}\n${hint}`;
    });
    await expect(texts.join("\n")).toMatchFileSnapshot("messages.txt");
  });
});
