import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ListOfListsSchema } from "../../../gen/portolan/v1/root_pb.ts";
import { blobsIn } from "../../../lib/snapshot/blob-groups.ts";
import type { TextChunk } from "../../../lib/snapshot/compiled.ts";
import { createLongLists, encodeLong } from "../../../lib/snapshot/long/encode-long.ts";
import { hasChunks, type Long, longResource, textChunk } from "../../../lib/snapshot/long/long-resource.ts";
import { createLongReader } from "../../../lib/snapshot/long/read-long.ts";

const runs = Array.from({ length: 600 }, (_, at) => textChunk(`run ${at}`));
const from = Array.from({ length: 3000 }, (_, at) => `networking.istio.io/VirtualService/team-${at}/app`);

function resource(of: readonly TextChunk[], origins: readonly string[] = from): Long {
  const made = longResource({ name: "80", from: origins, runs: of });
  if (!hasChunks(made)) throw new Error("has no runs");
  return made;
}

/** The same runs, one of them another. */
const changed = (at: number, text = "another"): Long =>
  resource(runs.map((run, place) => (place === at ? textChunk(text) : run)));

function stored(...resources: readonly Long[]) {
  const lists = createLongLists();
  const encoded = resources.map((one) => encodeLong(one, lists));
  const texts = new Map<string, string>();
  for (const { hash, make } of blobsIn(encoded.flatMap((one) => one.groups)).values())
    texts.set(hash, new TextDecoder().decode(make()));
  const reader = createLongReader(async (hash) => texts.get(hash) ?? "", 1024 * 1024);
  const refs = encoded.map(({ ref }) => ref.long ?? { version: "", lists: [], from: [] });
  return { texts, reader, refs };
}

/** Without the runs themselves. */
const listsIn = (blobs: ReadonlyMap<string, string>) =>
  [...blobs].filter(([, text]) => text.startsWith("{")).map(([hash, text]) => ({ hash, list: JSON.parse(text) }));
const texts = (list: readonly { readonly text: string }[]) => list.map(({ text }) => text);
const hashes = (list: readonly TextChunk[]) => list.map(({ hash }) => hash);

describe("the lists of a long resource", () => {
  it("are named by few others where they are many, and lead to all runs and objects in their order", async () => {
    const { refs, reader, texts: blobs } = stored(resource(runs));
    const [ref = { version: "", lists: [], from: [] }] = refs;
    expect(ref.lists.length).toBeLessThanOrEqual(8);
    expect(ref.from).toHaveLength(1);
    for (const hash of [...ref.lists, ...ref.from]) fromJson(ListOfListsSchema, JSON.parse(blobs.get(hash) ?? ""));
    expect(texts(await reader.runs(ref))).toEqual(hashes(runs));
    expect(await reader.origins(ref)).toEqual(from);
    expect(new Set(await reader.blobs(ref))).toEqual(new Set(blobs.keys()));
  });

  it("are named by the resource itself where they are few", async () => {
    const few = runs.slice(0, 20);
    const { refs, reader, texts: blobs } = stored(resource(few, from.slice(0, 2)));
    const [ref = { version: "", lists: [], from: [] }] = refs;
    expect(new Set(listsIn(blobs).map(({ hash }) => hash))).toEqual(new Set([...ref.lists, ...ref.from]));
    expect(texts(await reader.runs(ref))).toEqual(hashes(few));
  });

  it("are read where a resource names all of them, as those of the format before do", async () => {
    const { texts: blobs, reader } = stored(resource(runs));
    const parsed = listsIn(blobs);
    const ofRuns = parsed.filter(({ list }) => list.runs !== undefined).map(({ hash }) => hash);
    const ofOrigins = parsed.filter(({ list }) => list.from !== undefined).map(({ hash }) => hash);
    const flat = { version: "", lists: ofRuns, from: ofOrigins };
    expect(texts(await reader.runs(flat))).toEqual(hashes(runs));
    expect(await reader.origins(flat)).toEqual(from);
  });

  it.each([0, 300, 599])("are a few others when run %i is another, however many resources have it", (at) => {
    const own = changed(at === 300 ? 10 : 300, "its own");
    const before = stored(resource(runs), own);
    const both = stored(resource(runs), own, changed(at), changed(at));
    const known = new Set(listsIn(before.texts).map(({ hash }) => hash));
    const others = listsIn(both.texts).filter(({ hash }) => !known.has(hash));
    // That of the run and the one above it; where a list ends follows from the runs, so a neighbour may begin elsewhere.
    expect(others.length).toBeLessThanOrEqual(5);
    expect(known.size).toBeGreaterThan(50);
  });
});
