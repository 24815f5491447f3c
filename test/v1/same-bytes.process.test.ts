import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import type { CompiledLegacy, DocumentRef } from "../../lib/legacy/compiled-legacy.ts";
import { compileLegacy } from "../../lib/v1/compile-legacy.ts";
import { legacyWorldOf } from "../../lib/v1/legacy-world-of.ts";
import { foldersFiles } from "../bench/mesh-folder.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";
import { weightedShop } from "../integration/weighted-shop.ts";
import { wholeText } from "./whole-answer.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A line for each answer of each class, with the hash of its template. */
async function linesOf(compiled: CompiledLegacy): Promise<readonly string[]> {
  const hashes = new Map<string, Promise<string>>();
  const hashIn = (ref: DocumentRef): Promise<string> => {
    const name = ref.composition ?? ref.text;
    const known = hashes.get(name) ?? wholeText(compiled, ref).then(sha256);
    hashes.set(name, known);
    return known;
  };
  const { classes, registrations, sites, hosts } = compiled.index;
  const named = [
    ["registrations", registrations] as const,
    ...Object.entries(classes).flatMap(([key, { clusters, listeners, routes }]) => [
      [`${key} clusters`, clusters] as const,
      [`${key} listeners`, listeners] as const,
      ...Object.entries(routes).map(([name, ref]) => [`${key} ${name}`, ref] as const),
    ]),
  ];
  const lines = named.map(async ([name, ref]) => `${name} ${ref.resources} ${await hashIn(ref)}`);
  return [...(await Promise.all(lines)), sha256(JSON.stringify([sites, hosts]))];
}

/** Digests of those lines as commit f1159df6 gave them, which stored each document as one text. */
const meshes: readonly {
  readonly name: string;
  readonly release: "0.7" | "0.8";
  readonly files: () => Promise<readonly SourceFile[]>;
  readonly answers: number;
  readonly digest: string;
}[] = [
  {
    name: "the bookshop",
    release: "0.8",
    files: () => weightedShop(10),
    answers: 54,
    digest: "4c2c14412bf1f5169506b68a01923a4969dd96f39a8791ca5031e0175969fe94",
  },
  {
    name: "the bookshop as release 0.7 had it",
    release: "0.7",
    files: () => weightedShop(10),
    answers: 88,
    digest: "79d435f35a6d61a8ad2e76b42e0f443a1a61c5458d0b2154595e2cb60514aeb3",
  },
  {
    name: "a mesh of 200 services in four namespaces",
    release: "0.8",
    files: async () => foldersFiles(syntheticMesh(200).text),
    answers: 1750,
    digest: "736e3003d49f725a3b92ad6c8a9ce1b7a307bef3fb9a7f71753ca852205d73b6",
  },
];

describe("the bytes of v1 answers", () => {
  it.each(meshes)("are those of whole documents: $name", async ({ release, files, answers, digest }) => {
    const memo = createMemo();
    const options = { ...defaultWorldOptions, legacyApi: release };
    const world = legacyWorldOf(worldOf(readFiles(await files()), options, memo).value, memo);
    const lines = await linesOf(compileLegacy(world, [], memo));
    expect([lines.length, sha256(lines.join("\n"))]).toEqual([answers, digest]);
  });
});
