import { isDeepStrictEqual } from "node:util";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import type { WorldOptions } from "../../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import type { CompiledList, CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { resourceTypes } from "../../../lib/snapshot/resource-type.ts";
import { createWorldEncoder } from "../../../lib/snapshot/worlds/encode-world.ts";
import { type Folder, filesOf } from "./folder.ts";

/** Compiles folders one after the other and says where the answers are not those of a compiler that knows nothing. */
export interface WarmCompiler {
  /** Compiles a folder that nobody judges. */
  learn(folder: Folder): void;
  compile(folder: Folder): Judged;
}

export interface Judged {
  /** What a fresh compiler answers; undefined where it throws. */
  readonly fresh: CompiledWorld | undefined;
  /** Hash of the root of that. */
  readonly root: string;
  /** One line each; empty where warm equals fresh. */
  readonly findings: readonly string[];
}

export function createWarmCompiler(options: WorldOptions): WarmCompiler {
  const warm = createEncodingCompiler(options);
  return {
    learn: (folder) => {
      warm(filesOf(folder));
    },
    compile: (folder) => {
      const files = filesOf(folder);
      const [one, other] = [warm(files), createEncodingCompiler(options)(files)];
      const thrown = [one, other].flatMap((made) => (typeof made === "string" ? [made] : []));
      if (typeof one === "string" || typeof other === "string") {
        return { fresh: undefined, root: "", findings: thrown };
      }
      return { fresh: other.world, root: other.root, findings: differences(one, other) };
    },
  };
}

interface Encoded {
  readonly world: CompiledWorld;
  readonly root: string;
}

/** @returns a function that gives what it threw as a text */
function createEncodingCompiler(options: WorldOptions): (files: readonly SourceFile[]) => Encoded | string {
  const compileFiles = createFileCompiler(options);
  const encoder = createWorldEncoder();
  return (files) => {
    try {
      const world = compileFiles(files, []).value;
      return { world, root: encoder.encode(world).rootBlob.hash };
    } catch (error) {
      return `throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    }
  };
}

function differences(one: Encoded, other: Encoded): readonly string[] {
  const { world: warm, root } = one;
  const { world: fresh } = other;
  const parts = ["classifier", "nodes", "diagnostics", "legacy", "sources", "compiler"] as const;
  const found = [
    ...classDifferences(warm, fresh),
    ...parts
      .filter((part) => !isDeepStrictEqual(warm[part], fresh[part]))
      .map((part) => partDifference(part, warm[part], fresh[part])),
  ];
  if (found.length > 0 || root === other.root) return found;
  return ["the root differs, though all that it holds is equal: lists that are one object are not shared alike"];
}

function classDifferences(warm: CompiledWorld, fresh: CompiledWorld): readonly string[] {
  const ids = [warm, fresh].map(({ classes }) => classes.map(({ id }) => id));
  if (!isDeepStrictEqual(ids[0], ids[1])) return [`classes: warm ${ids[0]?.join(" ")}, fresh ${ids[1]?.join(" ")}`];
  return warm.classes.flatMap((one, at) => {
    const other = fresh.classes[at];
    if (other === undefined) return [];
    return (["stream", "poll"] as const).flatMap((shape) =>
      resourceTypes.flatMap((type) => {
        const [a, b] = [plainList(one[shape][type]), plainList(other[shape][type])];
        return isDeepStrictEqual(a, b) ? [] : partDifference(`class ${one.id} ${shape} ${type}`, a, b);
      }),
    );
  });
}

/** With their texts, which resources make when they are asked: a comparison of objects does not see those. */
const plainList = (list: CompiledList = []) =>
  list.map((part) => part.map(({ name, version, from, text, binary }) => ({ name, version, from, text, binary })));

/** Where two values begin to differ, with what stands around it. */
function partDifference(part: string, warm: unknown, fresh: unknown): string {
  const [one, other] = [textOf(warm), textOf(fresh)];
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  const from = Math.max(0, (at < 0 ? one.length : at) - 80);
  return `${part}: warm …${one.slice(from, from + 200)}…, fresh …${other.slice(from, from + 200)}…`;
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? "undefined";
