import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { V1Request } from "../../lib/legacy/v1-request.ts";
import type { RegistryFaults } from "../v1/oracle/answer.ts";
import type { Json } from "./json.ts";
import type { CaseFolder } from "./suite.ts";
import type { V1Inputs } from "./v1-world.ts";

/** `case.json` of the legacy suite, as far as it is read. */
export interface V1Case extends V1Inputs {
  readonly family: string;
  /** Documents a defect that is not reproduced. */
  readonly advisory?: boolean;
  readonly reject?: boolean;
  readonly request?: V1Request;
  readonly expect?: Expectation;
  readonly steps?: readonly { readonly action?: string; readonly request?: V1Request; readonly expect?: Expectation }[];
  readonly registryFaults?: RegistryFaults;
  readonly webhook?: Json;
  readonly proxyConfig?: Readonly<Record<string, unknown>>;
  readonly pilotSAN?: readonly string[];
  /** Objects in today's spelling, of cases that release 0.7 alone answers. */
  readonly configsFinalV1alpha3?: readonly string[];
  /** A golden file of the release, or that the answer was recorded from a running one. */
  readonly origin?: { readonly recordedFrom?: string };
}

export interface Expectation {
  readonly status?: number;
  /** File with the JSON answer. */
  readonly body?: string;
  /** The exact answer. */
  readonly text?: string;
}

/** The cases in `cases/<family>/<name>` of a folder. */
export function v1Folders(dir: string): readonly CaseFolder[] {
  const cases = join(dir, "cases");
  return readdirSync(cases).flatMap((family) =>
    readdirSync(join(cases, family)).map((name) => ({
      suite: "v1",
      name: `${family}/${name}`,
      group: family,
      path: join(cases, family, name),
    })),
  );
}

export function readV1Case(path: string): V1Case {
  return JSON.parse(readFileSync(join(path, "case.json"), "utf8"));
}

/** The folder of a case, and the one that its registries and mesh settings lie in. */
export function v1Urls({ path }: CaseFolder): { readonly folder: URL; readonly suite: URL } {
  const folder = pathToFileURL(`${path}/`);
  return { folder, suite: new URL("../../../", folder) };
}
