import { PortolanError } from "../../base/diagnostic.ts";
import { sha256 } from "../../config/canonical-json.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import type { ReadAhead } from "../../config/folder/files/read-ahead.ts";
import { createSecretsFilter } from "../../config/secrets/without-secrets.ts";
import { listChanges } from "../../registry/changes/changes.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { monotonicClock } from "../clock.ts";
import { readHeadOf } from "../collected/collected-shard.ts";
import { originText } from "../collected/shard-head.ts";
import { createFileHasher } from "./lists/hashed-files.ts";
import { runsOf } from "./lists/list-runs.ts";
import { emptyList, type HashedFile, type ListOptions, nextList } from "./lists/next-list.ts";
import { type LostEntries, type OpenList, openList } from "./lists/open-list.ts";
import { listInOrder, listText, type ShardList } from "./lists/shard-list.ts";
import { refuseNewlyClosed } from "./refuse-closed.ts";
import { refuseEmpty } from "./refuse-empty.ts";
import { fileKey, lacksRun, listKey, readText, versionKey } from "./source-shard.ts";
import { writeTexts } from "./write-texts.ts";

export interface WriteOptions extends ListOptions {
  /** Whether a source that is filled from another folder is taken; false when absent. */
  readonly takeOver?: boolean;
  /** Asked after the list that is replaced was read, and before it is replaced; rejects where it must not be any more. Absent: it may. */
  readonly mayWrite?: () => Promise<void>;
  /** Whether the source is left as it was where security objects of the files would close what they select; false when absent. */
  readonly refuseClosed?: boolean;
  /** Handed each file whose text is written, while that is waited for. Absent: they are read by whoever compiles them. */
  readonly ahead?: ReadAhead | undefined;
  /** The store itself keeps from being collected what a writer finds in place. */
  readonly storeRescues?: boolean;
  /** Waits before the write starts again, after so many were lost to other writers; some milliseconds, longer each time, when absent. */
  readonly pause?: (losses: number) => Promise<void>;
}

/** So often a write starts again from what another writer has put in place. */
const maxAttempts = 30;

/** Longer after each loss, 2 s at most, and never twice the same: writers that lost together do not come back together. */
const pauseAfterLoss = (losses: number): Promise<void> =>
  monotonicClock.pause(Math.min(10 * 2 ** losses, 2_000) * (0.5 + Math.random() / 2));

const contended = (name: string): string =>
  `too many concurrent writers: source ${name} was changed by others ${maxAttempts} times while it was written, and is as they left it; try again`;

type HashedText = Pick<HashedFile, "hash" | "text">;

/** So many writes trust what earlier ones have seen; then everything is looked at again, should something else have deleted or damaged it. */
const trustedWrites = 50;

/**
 * Replaces one part of what a source says. What an object said last is kept while its new form is refused. Texts first, then
 * their list, so that a reader sees the old list or the new one; of several writers each starts from what the other wrote.
 *
 * @returns the version that a reader will see
 * @throws PortolanError, with nothing changed, where security objects would close something and that is not accepted, where a collector
 * fills the source, or one follows another folder into it, or where it would come to hold nothing and that is not allowed
 */
export type ShardWriter = (files: readonly SourceFile[], options?: WriteOptions) => Promise<string>;

/** Once. */
export const writeShard = (
  store: ObjectStore,
  name: string,
  files: readonly SourceFile[],
  options: WriteOptions = {},
): Promise<string> => createShardWriter(store, name)(files, options);

/**
 * A writer that remembers the texts that it has put or found in place, and searched for secrets, which it leaves out, so that the next time
 * only what changed is: what the list at hand goes on naming cannot have been collected.
 *
 * @param trusted where these texts are kept, by their hashes: whoever reads the source in this process need not read them again
 */
export function createShardWriter(
  store: ObjectStore,
  name: string,
  trusted: Map<string, string> = new Map(),
): ShardWriter {
  const withoutSecrets = createSecretsFilter();
  const hashFiles = createFileHasher();
  /** The files whose texts are trusted, as they were given last. */
  let settled: readonly HashedFile[] = [];
  /** The list that was put in place last. */
  let known: (OpenList & { readonly text: string }) | undefined;
  const textOf = async (hash: string): Promise<string | undefined> =>
    trusted.get(hash) ?? (await readText(store, name, hash));
  const listIn = async (text: string): Promise<OpenList | undefined> =>
    text === known?.text ? known : openList(text, textOf);
  let writes = 0;
  return async (sources, options = {}) => {
    writes += 1;
    if (writes % trustedWrites === 0) {
      trusted.clear();
      settled = [];
    }
    const files = hashFiles(withoutSecrets(sources));
    const fresh = files.filter((file, at) => file !== settled[at]);
    for (let attempt = 1; ; attempt += 1) {
      const found = await store.get(listKey(name));
      if (found.kind === "absent") await refuseCollected(store, name);
      // What cannot be read is replaced: a folder brings everything that it has to say.
      const before = found.kind === "found" ? await listIn(new TextDecoder().decode(found.bytes)) : undefined;
      refuseOtherFolder(name, before?.list, options);
      if (before?.lost !== undefined) refuseLost(name, before.lost, options);
      const beforeList = before?.list ?? emptyList;
      const next = listInOrder(await nextList(store, name, beforeList, files, { ...options, known: trusted }));
      if (options.allowEmpty === false) refuseEmpty(files, next);
      if (options.refuseClosed === true) {
        const given = new Map(files.map(({ hash, text }) => [hash, text]));
        const textNow = async (hash: string) => given.get(hash) ?? (await textOf(hash)) ?? "";
        await refuseNewlyClosed(name, files, beforeList, next, textNow);
      }
      const runs = runsOf(next.files, before?.runs ?? []);
      const list = listText(next, runs);
      const version = sha256(list);
      // What the list at hand does not name may have been collected.
      const came = new Set(
        [listChanges(beforeList.files, next.files), listChanges(before?.runs ?? [], runs)].flatMap(({ added }) =>
          added.map(({ hash }) => hash),
        ),
      );
      const unsureFiles = files.filter(
        (file, at) => came.has(file.hash) || !(file === settled[at] || trusted.has(file.hash)),
      );
      const unsure = [...unsureFiles, ...runs.filter(({ hash }) => came.has(hash) || !trusted.has(hash))];
      const texts = new Map(unsure.map(({ hash, text }) => [fileKey(name, hash), text]));
      const filesByKey = new Map(unsureFiles.map((file) => [fileKey(name, file.hash), file]));
      const keysNamed = new Set(unsure.flatMap(({ hash }) => (came.has(hash) ? [] : [fileKey(name, hash)])));
      const written = texts.set(versionKey(name, version), list);
      const settle = await writeTexts(store, written, {
        storeRescues: options.storeRescues,
        named: keysNamed,
        meanwhile: (key) => {
          const file = filesByKey.get(key);
          if (file !== undefined) options.ahead?.read(file);
        },
      });
      await options.mayWrite?.();
      const condition = found.kind === "found" ? { ifMatch: found.etag } : ({ ifNoneMatch: "*" } as const);
      if ((await store.put(listKey(name), new TextEncoder().encode(list), condition)).kind === "lost") {
        if (attempt >= maxAttempts) throw new PortolanError(contended(name));
        await (options.pause ?? pauseAfterLoss)(attempt);
        continue;
      }
      await settle();
      known = { text: list, list: next, runs, lost: undefined };
      keepTrusted(trusted, fresh, files, runs);
      settled = files;
      return version;
    }
  };
}

/** Adds the texts that came to be named. Where there are as many that are named no more, these are dropped. */
function keepTrusted(
  trusted: Map<string, string>,
  fresh: readonly HashedText[],
  files: readonly HashedText[],
  runs: readonly HashedText[],
): void {
  const isFull = trusted.size > 2 * (files.length + runs.length);
  if (isFull) trusted.clear();
  // As they are read back: what is no Unicode has no place in UTF-8.
  for (const { hash, text } of [...(isFull ? files : fresh), ...runs]) trusted.set(hash, text.toWellFormed());
}

/** @throws PortolanError where a collector fills the source: it would go on writing what nobody reads any more */
export async function refuseCollected(store: ObjectStore, name: string): Promise<void> {
  const found = await readHeadOf(store, name);
  // Where both have written, as releases before let them, the list is what is read.
  if (found === undefined || (await store.get(listKey(name))).kind === "found") return;
  throw new PortolanError(
    `source ${name} is filled by a collector, from ${originText(found.head)}, and a source has one writer; ` +
      "it was left as it was: write to a source of your own, with --source",
  );
}

function refuseOtherFolder(
  name: string,
  before: Pick<ShardList, "origin"> | undefined,
  { origin, takeOver = false }: WriteOptions,
): void {
  if (origin === undefined || takeOver || before?.origin === undefined || before.origin === origin) return;
  throw new PortolanError(
    `source ${name} is filled from ${before.origin}, and this is ${origin}; give this one a source of its own, or say --take-over`,
  );
}

/** What is lost of a list is written again by who brings all of it, and nobody else may go on without it. */
function refuseLost(name: string, lost: LostEntries, { part, takeOver = false }: WriteOptions): void {
  if (part === "applied") throw new PortolanError(lacksRun(name));
  if (lost.applied === 0 || takeOver) return;
  const objects = lost.applied === 1 ? "an object that was" : `${lost.applied} objects that were`;
  throw new PortolanError(
    `source ${name} lacks a part of its list, and with it ${objects} applied; put the store back from a copy, or fill it by \`collect dir --take-over\` and apply them again`,
  );
}
