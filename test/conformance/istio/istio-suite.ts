import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { carriedCases } from "../carried-cases.ts";
import { ordered } from "../normalise.ts";
import { expectedReader } from "../store/case-store.ts";
import { type CaseFolder, foldersOf, type Suite } from "../suite.ts";
import { comparedBy } from "../xds-suite.ts";
import { insertedCases, insertedSuites, wholeReader } from "./stored.ts";

const dirs: readonly string[] = [fileURLToPath(carriedCases)];

/**
 * Cases of other suites, and some of its own, whose proxies are all Istio's: every answer as Istio gives it, filters that only its own
 * proxy has included.
 */
export function istioSuite(): Suite {
  const read = expectedReader();
  const whole = wholeReader();
  const suite = comparedBy("istio-proxies", dirs, {
    read: ({ path }) => {
      const of = basename(dirname(path));
      return of === ownCases ? read(path) : whole(of, basename(path), read(path));
    },
    build: "istio",
    normalise: ordered,
    types: "expected",
  });
  return { ...suite, folders: istioFolders };
}

const ownCases = "istio-proxies";

/** All under one head: what a case is about its own suite tells. */
export function istioFolders(dir: string): readonly CaseFolder[] {
  const inserted = insertedSuites.flatMap((suite) =>
    insertedCases(suite).map((name) => ({ name: `${suite}/${name}`, path: join(dir, suite, name) })),
  );
  const own = existsSync(join(dir, ownCases))
    ? foldersOf({ name: ownCases, dirs: [join(dir, ownCases)] }).map(({ name, path }) => ({ name, path }))
    : [];
  return [...inserted, ...own].map((folder) => ({ ...folder, suite: "istio-proxies", group: "Istio's own proxies" }));
}
