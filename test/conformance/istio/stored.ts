/** The places of Istio's filters in the recorded cases, as the repository keeps them: `cases/istio-filters/`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOf } from "../../../lib/base/blob.ts";
import { canonicalJson } from "../../../lib/config/canonical-json.ts";
import { carriedCases } from "../carried-cases.ts";
import { asJson, isObject, type Json, type JsonObject } from "../json.ts";
import { normaliseFile } from "../normalise.ts";
import { caseNames, expectedReader } from "../store/case-store.ts";
import type { Expected } from "../store/expected.ts";
import { fromYamlText, yamlText } from "../store/yaml-text.ts";
import { type InsertedFilters, type NamedFilters, putBack, takeOut } from "./inserted.ts";

/** Of one case: by proxy, then by type of resource. */
type InsertedInCase = Readonly<Record<string, Readonly<Record<string, readonly InsertedFilters[]>>>>;

const folder = fileURLToPath(new URL("istio-filters/", carriedCases));
const filtersFile = join(folder, "filters.yaml");

/** The suites whose cases are kept so, in a folder with a file for each case. */
export const insertedSuites = ["v3"] as const;

export const insertedCases = (suite: string): readonly string[] => {
  const dir = join(folder, suite);
  return existsSync(dir)
    ? readdirSync(dir)
        .map((file) => basename(file, ".yaml"))
        .sort()
    : [];
};

/** Reads what is expected of Istio's own proxies in a case whose answers lie without their filters. */
export function wholeReader(): (suite: string, name: string, stripped: Expected) => Expected {
  let known: NamedFilters | undefined;
  return (suite, name, stripped) => {
    known ??= knownFilters();
    const inserted = insertedIn(suite, name);
    return Object.fromEntries(
      Object.entries(stripped).map(([proxy, files]) => [proxy, filesOf(files, inserted[proxy] ?? {}, known ?? {})]),
    );
  };
}

export const knownFilters = (): NamedFilters => filtersIn(filtersFile);

export const insertedIn = (suite: string, name: string): InsertedInCase =>
  asCase(fromYamlText(readFileSync(join(folder, suite, `${name}.yaml`), "utf8")));

/** The same for equal filters. */
export const filterName = (filter: JsonObject): string => `${filter.name}-${hashOf(canonicalJson(filter)).slice(0, 8)}`;

const filesOf = (files: Expected[string], inserted: InsertedInCase[string], known: NamedFilters): Expected[string] =>
  Object.fromEntries(Object.entries(files).map(([type, file]) => [type, putBack(file, inserted[type] ?? [], known)]));

/**
 * Takes what Istio answered its own proxies: a folder for each case of a suite, with `<proxy>/<type>.json`.
 *
 * @throws where the answers, without their filters, are not those of the case: then they were recorded from something else
 */
export function importInserted(source: string, suite: string, cases: string): readonly string[] {
  const known = new Map(Object.entries(existsSync(filtersFile) ? filtersIn(filtersFile) : {}));
  const nameOf = (filter: JsonObject): string => {
    const name = filterName(filter);
    known.set(name, filter);
    return name;
  };
  const read = expectedReader();
  const names = caseNames(cases).filter((name) => existsSync(join(source, name)));
  rmSync(join(folder, suite), { recursive: true, force: true });
  mkdirSync(join(folder, suite), { recursive: true });
  for (const name of names) {
    const expected = read(join(cases, name));
    const inserted: Record<string, Record<string, readonly InsertedFilters[]>> = {};
    for (const [proxy, files] of Object.entries(expected)) {
      for (const type of ["clusters", "listeners"]) {
        const whole: Json = JSON.parse(readFileSync(join(source, name, proxy, `${type}.json`), "utf8"));
        if (canonicalJson(normaliseFile(whole)) !== canonicalJson(normaliseFile(files[type] ?? [])))
          throw new Error(`${name}/${proxy}/${type}: not what was recorded`);
        inserted[proxy] = { ...inserted[proxy], [type]: takeOut(whole, nameOf) };
      }
    }
    writeFileSync(join(folder, suite, `${name}.yaml`), yamlText(asJson(inserted)));
  }
  writeFileSync(filtersFile, yamlText(asJson(Object.fromEntries([...known].sort()))));
  return names;
}

function filtersIn(file: string): NamedFilters {
  const value = fromYamlText(readFileSync(file, "utf8"));
  if (!isObject(value)) throw new Error(`${file} holds no object`);
  return value;
}

/** What `importInserted` wrote. */
const asCase = (value: Json): InsertedInCase => value as unknown as InsertedInCase;
