import { PortolanError } from "../../base/diagnostic.ts";
import { type Fields, isFields, listOf, numberOf, textOf } from "../../base/untyped.ts";
import type { CompiledStatus } from "../../snapshot/compiled.ts";
import { newestRoot, readHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createCollectedReader } from "../collected/collected-shard.ts";
import { addressStatuses } from "../resolved/address-statuses.ts";

/** What a compile says of one object. */
export type ToldStatus = CompiledStatus;

/** What the newest compile says of the objects that have a status. */
export interface NewestStatuses {
  /** Hash of the root that says it. */
  readonly root: string;
  /** Undefined where the root is the one that was known. */
  readonly statuses: readonly ToldStatus[] | undefined;
}

/**
 * @param known hash of a root whose statuses need not be read again
 * @returns undefined where nothing was published yet
 */
export async function newestStatuses(objects: ObjectStore, known?: string): Promise<NewestStatuses | undefined> {
  const read = await readHead(objects);
  if (read === undefined) return undefined;
  const hash = newestRoot(read.head);
  if (hash === known) return { root: hash, statuses: undefined };
  const reader = createSnapshotReader(objects);
  const { root } = await reader.root(hash);
  return { root: hash, statuses: root.statuses === undefined ? [] : JSON.parse(await reader.text(root.statuses)) };
}

/**
 * The same with the addresses that the ServiceEntries of a collected source were given, as their collector writes them back.
 *
 * @param known as above: while it is the newest root, addresses were not given anew
 */
export async function statusesToWrite(
  objects: ObjectStore,
  source: string,
  known?: string,
): Promise<NewestStatuses | undefined> {
  const newest = await newestStatuses(objects, known);
  if (newest?.statuses === undefined) return newest;
  const addresses = await addressStatuses(objects, source);
  return { root: newest.root, statuses: [...newest.statuses, ...addresses] };
}

/** The same of the objects of a collected source alone: what its collector may know of the others' is not more than before. */
export async function statusesOfSource(
  objects: ObjectStore,
  source: string,
  known?: string,
): Promise<NewestStatuses | undefined> {
  const newest = await statusesToWrite(objects, source, known);
  if (newest?.statuses === undefined) return newest;
  const shard = await createCollectedReader(objects, source)();
  return { root: newest.root, statuses: newest.statuses.filter(({ object }) => shard?.objects.has(object) === true) };
}

/** What a compile function has answered. @throws PortolanError for anything else */
export function readNewestStatuses(json: unknown): NewestStatuses | undefined {
  if (json === null) return undefined;
  if (!isFields(json) || typeof json.root !== "string") throw new PortolanError("the answer is no list of statuses");
  const { root, statuses } = json;
  return { root, statuses: statuses === undefined ? undefined : listOf(statuses).filter(isFields).flatMap(readTold) };
}

function readTold({ object, generation, uid, controllers, status }: Fields): readonly ToldStatus[] {
  const number = numberOf(generation);
  if (number === undefined || !isFields(status) || textOf(object) === "") return [];
  return [
    {
      object: textOf(object),
      generation: number,
      ...(typeof uid === "string" ? { uid } : {}),
      ...(controllers === undefined ? {} : { controllers: listOf(controllers).map(textOf) }),
      status,
    },
  ];
}
