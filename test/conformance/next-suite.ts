import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { grpcSuite } from "./grpc-suite.ts";
import { normaliseFile } from "./normalise.ts";
import { expectedReader } from "./store/case-store.ts";
import type { CaseFolder, Suite } from "./suite.ts";
import { comparedBy } from "./xds-suite.ts";

const release: Release = "1.31";

/** The suite that was recorded from Istio 1.31: of Envoys, and of programs that speak xDS themselves where a case says what they ask for. */
export function nextSuite(name: string, dirs: readonly string[]): Suite {
  const read = expectedReader();
  const envoys = comparedBy(name, dirs, { read: ({ path }) => read(path), normalise: normaliseFile, release });
  const programs = grpcSuite(name, dirs, release);
  const suiteOf = ({ path }: CaseFolder) => (existsSync(join(path, "requests.json")) ? programs : envoys);
  return {
    name,
    dirs,
    run: (folder, withStatus) => suiteOf(folder).run(folder, withStatus),
    filesOf: (folder) => suiteOf(folder).filesOf(folder),
  };
}
