/**
 * The cases that the repository carries, `cases/<suite>/`: a folder for each case, its inputs as they were taken, and
 * `expected.yaml`; in `parts/` a file for each type of resource with what several cases answer.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { expandCase } from "./expand.ts";
import type { AbridgedCase, AbridgedSuite, Expected, Parts } from "./expected.ts";
import { mapValues } from "./members.ts";
import { fromYamlText, yamlText } from "./yaml-text.ts";

const abridgedFile = "expected.yaml";
const fullFolder = "expected";
export const partsFolder = "parts";

/** Whether a folder is a case: one that says what is expected, abridged or in full. */
export function isCase(folder: string): boolean {
  return existsSync(join(folder, abridgedFile)) || existsSync(join(folder, fullFolder));
}

/** The names of a suite's cases, sorted; a suite that is not there has none. */
export function caseNames(suiteFolder: string): readonly string[] {
  if (!existsSync(suiteFolder)) return [];
  return readdirSync(suiteFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isCase(join(suiteFolder, entry.name)))
    .map(({ name }) => name)
    .sort();
}

/** Reads what is expected of a case folder, abridged or in full. Remembers the parts of a suite. */
export function expectedReader(): (caseFolder: string) => Expected {
  const partsOf = new Map<string, Parts>();
  return (caseFolder) => {
    if (!existsSync(join(caseFolder, abridgedFile))) return readFull(join(caseFolder, fullFolder));
    const suiteFolder = dirname(caseFolder);
    const parts = partsOf.get(suiteFolder) ?? readParts(suiteFolder);
    partsOf.set(suiteFolder, parts);
    return expandCase(readAbridged(caseFolder), parts);
  };
}

/** `<proxy>/<type>.json` in a folder. */
function readFull(folder: string): Expected {
  return filesIn(folder, (proxy) => filesIn(join(folder, proxy), (file) => readJson(join(folder, proxy, file))));
}

function filesIn<Value>(folder: string, read: (name: string) => Value): Readonly<Record<string, Value>> {
  return Object.fromEntries(readdirSync(folder).map((name) => [basename(name, ".json"), read(name)]));
}

function readJson(file: string): Json {
  const value: Json = JSON.parse(readFileSync(file, "utf8"));
  return value;
}

function readParts(suiteFolder: string): Parts {
  const folder = join(suiteFolder, partsFolder);
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  return Object.fromEntries(names.map((name) => [basename(name, ".yaml"), readObject(join(folder, name))]));
}

function readAbridged(caseFolder: string): AbridgedCase {
  const { answers = {}, parts } = readObject(join(caseFolder, abridgedFile));
  return parts === undefined
    ? { answers: byTwoNames(answers) }
    : { answers: byTwoNames(answers), parts: byTwoNames(parts) };
}

const byTwoNames = (value: Json) =>
  isObject(value) ? mapValues(value, (inner) => (isObject(inner) ? inner : {})) : {};

function readObject(file: string): JsonObject {
  const value = fromYamlText(readFileSync(file, "utf8"));
  if (!isObject(value)) throw new Error(`${file} holds no object`);
  return value;
}

/** The files of a suite that are made out of its answers: paths in the suite's folder to texts. */
export function suiteTexts({ parts, cases }: AbridgedSuite): ReadonlyMap<string, string> {
  return new Map([
    ...Object.entries(parts).map(([type, bodies]) => [join(partsFolder, `${type}.yaml`), yamlText(bodies)] as const),
    ...[...cases].map(([name, { answers, parts: own }]) => {
      const value = own === undefined ? { answers } : { answers, parts: own };
      return [join(name, abridgedFile), yamlText(value)] as const;
    }),
  ]);
}

/** Writes these files, and leaves no older parts behind. */
export function writeSuite(suiteFolder: string, suite: AbridgedSuite): void {
  rmSync(join(suiteFolder, partsFolder), { recursive: true, force: true });
  for (const [path, text] of suiteTexts(suite)) {
    mkdirSync(dirname(join(suiteFolder, path)), { recursive: true });
    writeFileSync(join(suiteFolder, path), text);
  }
}
