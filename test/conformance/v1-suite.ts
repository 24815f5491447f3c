import type { Suite } from "./suite.ts";

/** The legacy REST v1 cases. */
export function v1Suite(dir: URL): Suite {
  return {
    name: "v1",
    dir,
    run: (folder) => {
      throw new Error(`${folder.name}: the v1 documents are not generated yet`);
    },
  };
}
