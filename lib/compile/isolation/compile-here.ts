import { PortolanError } from "../../base/diagnostic.ts";
import type { RecompileOptions } from "../recompile/recompiled.ts";
import { createRecompiler } from "../recompile.ts";
import type { Compile } from "../triggers/compile-job.ts";
import { createIsolatedCompile } from "./isolated-compile.ts";
import { nothingWithheld, type WithheldVersions } from "./withheld-sources.ts";

/**
 * Compiles in this process. A change that has ended the processes before this one is held back, as `createIsolatedCompile` describes it;
 * how many have ended is what the lease says.
 */
export function createCompileHere(options: RecompileOptions): Compile {
  const { store, sources = [], now = Date.now } = options;
  let heldNow: WithheldVersions = nothingWithheld;
  const recompile = createRecompiler({ ...options, held: () => heldNow });
  return createIsolatedCompile({
    store,
    primary: sources[0],
    isHere: true,
    now,
    async attempt({ publishing, mayPublish, held, signal }) {
      heldNow = held;
      const late = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(new PortolanError("the compile was given up")), { once: true }),
      );
      return { kind: "compiled", told: await Promise.race([recompile(publishing, mayPublish), late]) };
    },
  });
}
