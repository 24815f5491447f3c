import type { Suite } from "./suite.ts";
import { xdsSuite } from "./xds-suite.ts";

/** The shared conformance data, a sibling of the repository. */
export const sharedConformance = new URL("../../../shared/conformance/", import.meta.url);

export const suiteNames = ["v3", "v3-samples", "v1"] as const;
export type SuiteName = (typeof suiteNames)[number];

/** Loads a suite by its name; v1 on demand, since the v3 runs need nothing of it. */
export async function suiteOf(name: SuiteName): Promise<Suite> {
  const dir = new URL(`${name}/`, sharedConformance);
  if (name !== "v1") return xdsSuite(name, dir);
  const { v1Suite } = await import("./v1-suite.ts");
  return v1Suite(dir);
}
