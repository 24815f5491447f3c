import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "../shared.ts";
import { carriedCases } from "./carried-cases.ts";
import { grpcSuite } from "./grpc-suite.ts";
import { istioSuite } from "./istio/istio-suite.ts";
import { nextSuite } from "./next-suite.ts";
import { type CaseFolder, foldersOf, type Suite } from "./suite.ts";
import { v1Folders } from "./v1-cases.ts";
import { xdsSuite } from "./xds-suite.ts";

/** The suites that the runner compares. */
export const suiteNames = ["v3", "v3-samples", "gateway-api", "grpc", "v3-next", "istio-proxies", "v1"] as const;
export type SuiteName = (typeof suiteNames)[number];

/** What is missing of a suite where `../shared` is not there. */
export const outside: Readonly<Partial<Record<SuiteName, string>>> = {
  "v3-samples": "Istio's sample applications",
  "gateway-api": "cases around Istio's own inputs of the Gateway API",
  v1: "the golden answers that releases 0.7 and 0.8 ship",
};

/** Where the cases of a suite lie: in the repository, and beside it. */
export function dirsOf(suite: string): readonly string[] {
  const dirs = [new URL(`${suite}/`, carriedCases), new URL(`conformance/${suite}/`, sharedFolder)];
  return dirs.map((dir) => fileURLToPath(dir)).filter((dir) => existsSync(dir));
}

/** Those of some suites of which there are cases here. */
export function suitesOf<Name extends string>(...names: readonly Name[]): readonly Name[] {
  return names.filter((name) => dirsOf(name).length > 0);
}

/** All cases of a suite, whether it is carried or lies outside, by name. */
export function casesOf(suite: string): readonly CaseFolder[] {
  if (suite === "istio-proxies") return foldersOf(istioSuite());
  return foldersOf({ name: suite, dirs: dirsOf(suite), ...(suite === "v1" ? { folders: v1Folders } : {}) });
}

/** Loads a suite by its name; v1 on demand, since the v3 runs need nothing of it. */
export async function suiteOf(name: SuiteName): Promise<Suite> {
  if (name === "istio-proxies") return istioSuite();
  if (name === "v3-next") return nextSuite(name, dirsOf(name));
  if (name === "grpc") return grpcSuite(name, dirsOf(name));
  if (name !== "v1") return xdsSuite(name, dirsOf(name));
  const { v1Suite } = await import("./v1-suite.ts");
  return v1Suite(dirsOf(name));
}
