import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { carriedCases } from "../carried-cases.ts";
import { readV1Case, v1Folders } from "../v1-cases.ts";
import { copyFiles, type Imported, importCases } from "./import-cases.ts";

/** Suites that the repository carries: whether one of their cases is ours to carry. */
const carried: Readonly<Record<string, (name: string) => boolean>> = {
  v3: () => true,
  grpc: () => true,
  "v3-next": () => true,
  "istio-proxies": () => true,
  // The others are built around Istio's own test inputs.
  "gateway-api": (name) => !name.startsWith("ga-istio-"),
};

/** What the cases of the legacy suite have in common. */
const legacySupport = ["mesh", "registry", "schema", "vectors"];

/**
 * Takes the cases of a folder into the repository, into the suite that the folder is named after.
 *
 * @throws when there is no such suite
 */
export function importFolder(source: string, into: URL = carriedCases): Imported {
  const suite = basename(resolve(source));
  const target = join(fileURLToPath(into), suite);
  if (suite === "v1") return importLegacy(source, target);
  const isOurs = Object.hasOwn(carried, suite) ? carried[suite] : undefined;
  if (isOurs === undefined) {
    throw new Error(`no cases of "${suite}" are carried; name a folder ${["v1", ...Object.keys(carried)].join(", ")}`);
  }
  return importCases(source, target, isOurs);
}

/** The recorded cases as they lie; the others hold golden files of the old releases. */
function importLegacy(source: string, target: string): Imported {
  const folders = v1Folders(source);
  const recorded = folders.filter(({ path }) => readV1Case(path).origin?.recordedFrom !== undefined);
  for (const { name, path } of recorded) copyFiles(path, join(target, "cases", name), () => true);
  for (const name of legacySupport) copyFiles(join(source, name), join(target, name), () => true);
  const taken = new Set(recorded.map(({ name }) => name));
  return { taken: [...taken], left: folders.map(({ name }) => name).filter((name) => !taken.has(name)) };
}
