import { blobOfKey } from "../../base/blob.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import type { BlobSource } from "../../snapshot/reader/blobs.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { isPart, unreadPart } from "../../snapshot/reuse/read-stored.ts";
import { type Made, readRecord } from "../../snapshot/reuse/reuse-record.ts";
import type { EncodedWorld } from "../../snapshot/worlds/encode-world.ts";
import { createListLoader, restoreWorld } from "../../snapshot/worlds/restore-world.ts";
import { settledMatches } from "../../xds/envoy-filter/match-notes.ts";
import { units } from "../../xds/units.ts";
import { boundedBySource } from "../bounded-diagnostics.ts";
import { reportedKey } from "../reuse/reusable.ts";
import { sortDiagnostics } from "../sort-diagnostics.ts";
import { sliceText } from "./plan.ts";

interface Unreadable {
  /** 0-based. */
  readonly index: number;
  readonly cause: PortolanError;
}

/** Slices whose roots, or something that these name, are missing or damaged. */
export class UnreadableSlices extends PortolanError {
  /** 0-based. */
  readonly indexes: readonly number[];
  constructor(slices: readonly Unreadable[], of: number) {
    const texts = slices.map(({ index, cause }) => `${sliceText(index, of)} cannot be read: ${cause.message}`);
    const diagnostics = slices.flatMap(({ cause }) => cause.diagnostics);
    super(texts.join("; "), diagnostics, slices[0]?.cause);
    this.indexes = slices.map(({ index }) => index);
  }
}

export interface JoinedSlices {
  /** As if it had been compiled as one: its root is the same to the byte. */
  readonly world: CompiledWorld;
  /** Blobs that were read, and are what their names say. */
  readonly read: ReadonlySet<string>;
}

/** Stored size of the segments that are kept while slices are read; each is read once. */
const cacheBytes = 16 * 1024 * 1024;

export interface Joining {
  /** What the slices share with it is taken from there, objects and all. */
  readonly like?: { readonly world: CompiledWorld; readonly encoded: EncodedWorld } | undefined;
  /** Whether a part stays unread, by its key; absent: all are read. Slices whose roots say how they were made are joined so, and no others. */
  readonly isLeft?: ((key: string) => boolean) | undefined;
}

/**
 * One world of all slices of a plan.
 *
 * @param all the slices in their order: their roots, or the worlds that they are
 * @throws UnreadableSlices where blobs are missing or damaged
 */
export async function joinSlices(
  store: BlobSource,
  all: readonly (string | CompiledWorld)[],
  { like, isLeft = () => false }: Joining = {},
): Promise<JoinedSlices> {
  const read = new Set<string>();
  const reader = createSnapshotReader(recording(store, read), cacheBytes);
  const secrets = new Map<string, readonly string[]>();
  // One for all: what slices share is one object.
  const loadList = createListLoader(reader, like?.encoded, (part) =>
    isLeft(part.key) && isPart(part.ref) ? unreadPart(part, part.ref, secrets.get(part.key)) : undefined,
  );
  const restore = async (root: string): Promise<CompiledWorld> => {
    for (const [key, names] of await secretsOfParts(reader, root)) secrets.set(key, names);
    return (await restoreWorld(reader, root, like, loadList)).world;
  };
  const slices: CompiledWorld[] = [];
  const unreadable: Unreadable[] = [];
  for (const [index, slice] of all.entries()) {
    try {
      slices.push(typeof slice === "string" ? await restore(slice) : slice);
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      unreadable.push({ index, cause });
    }
  }
  if (unreadable.length > 0) throw new UnreadableSlices(unreadable, all.length);
  const [first] = slices;
  if (first === undefined) throw new Error("a plan has at least one slice");
  const { made: _ofFirst, table: _tableOfFirst, ...beside } = first;
  const classes = slices.flatMap((slice) => slice.classes).sort((a, b) => byCodePoint(a.id, b.id));
  const made = joinMade(slices, classes);
  const bundles = slices.flatMap(({ trustBundles = {} }) => Object.entries(trustBundles));
  const world = {
    ...beside,
    classes,
    diagnostics: boundedBySource(
      settledMatches(sortDiagnostics(slices.flatMap(({ diagnostics }) => diagnostics))),
      beside.sources.map(({ name }) => name),
    ),
    ...(bundles.length === 0 ? {} : { trustBundles: Object.fromEntries(bundles.sort(byName)) }),
    ...(made === undefined ? {} : { made }),
  };
  return { world, read };
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => byCodePoint(a, b);

/** Names of secrets, by the key of the part that names them; none for a root that does not say how it was made. */
async function secretsOfParts(reader: SnapshotReader, hash: string): Promise<readonly [string, readonly string[]][]> {
  const { root } = await reader.root(hash);
  const record = root.standing === undefined ? undefined : readRecord(await reader.textIfWhole(root.standing));
  return Object.entries(record?.secrets ?? {});
}

/** What making all classes had to say, in their order; undefined unless all slices were made alike, and say so. */
function joinMade(slices: readonly CompiledWorld[], classes: CompiledWorld["classes"]): Made | undefined {
  const key = slices[0]?.made?.key;
  if (key === undefined || slices.some(({ made }) => made?.key !== key)) return undefined;
  const spoken = new Map(slices.flatMap(({ made }) => Object.entries(made?.spoken ?? {})));
  const inOrder = classes.flatMap(({ id }) =>
    units.flatMap((unit) => {
      const said = spoken.get(reportedKey(id, unit));
      return said === undefined ? [] : [[reportedKey(id, unit), said] as const];
    }),
  );
  return { key, spoken: Object.fromEntries(inOrder) };
}

/** The same store, where what was found of blobs is taken note of; the reader holds it against its name. */
const recording = (store: BlobSource, read: Set<string>): BlobSource => ({
  async get(key, condition) {
    const found = await store.get(key, condition);
    const hash = blobOfKey(key);
    if (found.kind === "found" && hash !== undefined) read.add(hash);
    return found;
  },
});
