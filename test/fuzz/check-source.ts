import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, type WorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { createMemo, type Memo, noMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { classify } from "../../lib/mesh/classes/classify.ts";
import { eachClass } from "../../lib/mesh/classes/enter-classes.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { generate } from "../../lib/xds/generate.ts";
import { resourceTypes } from "../../lib/xds/resource.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { nodeOfNamed } from "../named-proxy.ts";
import { type WholeResources, wholeResources } from "../whole-resources.ts";
import { dangling } from "./dangling.ts";
import { createDice, shuffled } from "./objects/dice.ts";
import { filesOf, type RandomSource } from "./objects/random-source.ts";

/** What is wrong with the answers for a source, and the answers, for Envoy to judge. */
export interface CheckedSource {
  /** One line each; empty when all laws hold. */
  readonly findings: readonly string[];
  /** By class. */
  readonly polled: ReadonlyMap<string, WholeResources>;
}

/**
 * The laws of a compile that need no Envoy: it never throws, makes nothing that the descriptors refuse, gives the same
 * answers for another order of its input and for a memo that forgets, and names only what it holds.
 */
export function checkSource(source: RandomSource): CheckedSource {
  try {
    return checkCompiled(source);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { findings: [`throws ${text.split("\n").slice(0, 6).join(" ")}`], polled: new Map() };
  }
}

function checkCompiled(source: RandomSource): CheckedSource {
  const files = filesOf(source);
  const nodes = source.proxies.map(nodeOfNamed);
  const options = { ...defaultWorldOptions, gatewayApi: { alphaKinds: true }, nodes };
  const memo = createMemo();
  const world = worldOf(readFiles(files), options, memo).value;
  const compiled = compile(world, [], memo).value;
  const refused = compiled.diagnostics.filter(({ code }) => code === "resource-refused");
  const mesh = buildMesh(world, memo).value;
  const { classes } = classify(mesh, world.proxies, memo).value;
  const resources = eachClass(classes).map(({ id, proxy }) => [id, generate(mesh, proxy, memo).value] as const);
  const otherOrder = compileAll(shuffled(createDice(source.seed), files), options, createMemo());
  return {
    findings: [
      ...refused.map(({ message }) => message),
      ...differences("shuffled", compiled, otherOrder),
      ...differences("without a memo", compiled, compileAll(files, options, noMemo)),
      ...resources.flatMap(([id, found]) => dangling(wholeResources(found)).map((line) => `class ${id}: ${line}`)),
    ],
    // Envoy is no judge of what programs ask for by name.
    polled: new Map(
      resources.flatMap(([id, found]) =>
        id.startsWith("grpc-") ? [] : [[id, wholeResources(pollShape(found, memo))] as const],
      ),
    ),
  };
}

function compileAll(files: readonly SourceFile[], options: WorldOptions, memo: Memo): CompiledWorld {
  return compile(worldOf(readFiles(files), options, memo).value, [], memo).value;
}

/** The resources that two compiles answer differently. */
function differences(how: string, one: CompiledWorld, other: CompiledWorld): readonly string[] {
  const a = textsOf(one);
  const b = textsOf(other);
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((key) => a.get(key) !== b.get(key))
    .map((key) => `${how} differs: ${key} ${firstDifference(a.get(key), b.get(key))}`);
}

function textsOf({ classes, nodes }: CompiledWorld): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { keys, classId } of nodes) texts.set(`node ${keys.join()}`, classId);
  for (const { id, stream, poll } of classes) {
    for (const [shape, answers] of [
      ["stream", stream],
      ["poll", poll],
    ] as const) {
      for (const type of resourceTypes) {
        texts.set(
          `${id} ${shape} ${type}`,
          resourcesIn(answers[type])
            .map(({ name }) => name)
            .join(),
        );
        for (const { name, text, from } of resourcesIn(answers[type]))
          texts.set(`${id} ${shape} ${type} ${name}`, `${text} ${from}`);
      }
    }
  }
  return texts;
}

function firstDifference(a = "nothing", b = "nothing"): string {
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  const from = Math.max(0, at - 60);
  return `${a.slice(from, at + 60)} <> ${b.slice(from, at + 60)}`;
}
