import { isDeepStrictEqual } from "node:util";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import type { WorldOptions } from "../../../lib/compile/world-of.ts";
import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { createTreeEncoder } from "../../../lib/snapshot/encode-tree.ts";
import { encodeWorld } from "../../../lib/snapshot/encode-world.ts";
import { resourceTypes } from "../../../lib/snapshot/resource-type.ts";
import { type Folder, filesOf } from "./folder.ts";

/** Compiles folders one after the other and says where the answers are not those of a compiler that knows nothing. */
export interface WarmCompiler {
  compile(folder: Folder): Judged;
}

export interface Judged {
  /** Hash of the root that a fresh compiler gives. */
  readonly root: string;
  readonly fresh: CompiledWorld;
  /** One line each; empty where warm equals fresh. */
  readonly findings: readonly string[];
}

export function createWarmCompiler(options: WorldOptions): WarmCompiler {
  const compileAgain = createFileCompiler(options);
  const encodeAgain = createTreeEncoder();
  return {
    compile: (folder) => {
      const files = filesOf(folder);
      const fresh = createFileCompiler(options)(files, []).value;
      const root = encodeWorld(fresh, createTreeEncoder()).rootBlob.hash;
      try {
        const warm = compileAgain(files, []).value;
        return {
          root,
          fresh,
          findings: differences(warm, fresh, encodeWorld(warm, encodeAgain).rootBlob.hash === root),
        };
      } catch (error) {
        return { root, fresh, findings: [`warm throws ${error instanceof Error ? error.stack : String(error)}`] };
      }
    },
  };
}

function differences(warm: CompiledWorld, fresh: CompiledWorld, sameRoot: boolean): readonly string[] {
  const parts = ["classifier", "nodes", "diagnostics", "legacy", "sources", "compiler"] as const;
  const found = [
    ...classDifferences(warm, fresh),
    ...parts
      .filter((part) => !isDeepStrictEqual(warm[part], fresh[part]))
      .map((part) => partDifference(part, warm[part], fresh[part])),
  ];
  if (found.length > 0) return found;
  return sameRoot
    ? []
    : ["the root differs, though all that it holds is equal: lists that are one object are not shared alike"];
}

function classDifferences(warm: CompiledWorld, fresh: CompiledWorld): readonly string[] {
  const ids = [warm, fresh].map(({ classes }) => classes.map(({ id }) => id));
  if (!isDeepStrictEqual(ids[0], ids[1])) return [`classes: warm ${ids[0]?.join(" ")}, fresh ${ids[1]?.join(" ")}`];
  return warm.classes.flatMap((one, at) => {
    const other = fresh.classes[at];
    if (other === undefined || isDeepStrictEqual(one, other)) return [];
    return (["stream", "poll"] as const).flatMap((shape) =>
      resourceTypes
        .filter((type) => !isDeepStrictEqual(one[shape][type], other[shape][type]))
        .map((type) => partDifference(`class ${one.id} ${shape} ${type}`, one[shape][type], other[shape][type])),
    );
  });
}

/** Where two values begin to differ, with what stands around it. */
function partDifference(part: string, warm: unknown, fresh: unknown): string {
  const [one, other] = [textOf(warm), textOf(fresh)];
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  const from = Math.max(0, (at < 0 ? one.length : at) - 80);
  return `${part}: warm …${one.slice(from, from + 200)}…, fresh …${other.slice(from, from + 200)}…`;
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? "undefined";
