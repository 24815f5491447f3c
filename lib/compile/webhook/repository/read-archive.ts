import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { causeText } from "../../../base/cause-text.ts";
import { byCodePoint } from "../../../base/diagnostic.ts";
import type { SourceFile } from "../../../config/folder/directory.ts";
import { isConfigFile, isPassedOver } from "../../../config/folder/folder-names.ts";
import { type Limits, limits } from "../../../limits/limits.ts";
import { isWithin } from "../../../snapshot/free-text.ts";
import { FetchFailure } from "./fetch-failure.ts";
import type { Repository } from "./read-repositories.ts";
import { isSha } from "./repository-host.ts";

export type ArchiveLimits = Pick<
  Limits,
  | "archiveBytes"
  | "archiveUnpackedBytes"
  | "archiveHeaderBytes"
  | "archiveEntries"
  | "sourceBytes"
  | "sourceFiles"
  | "nameBytes"
>;

/** pax records that hold for an entry: `git archive` writes one to three, tar up to ten. All global ones are copied to each entry. */
const maxPaxRecords = 16;
/** A header, and what the length of a file in a tar is rounded up to. */
const blockBytes = 512;

/** The files of a folder in an archive, as `SourceFile` has them. */
export interface ArchiveFiles {
  readonly files: readonly SourceFile[];
  /** Of their texts. */
  readonly bytes: number;
}

/**
 * Reads the archive of a commit as a folder is read: YAML and JSON files at any depth, except below hidden folders and `node_modules`. A link
 * is not followed: it is an unreadable file.
 *
 * @param archive a gzip-compressed tar, as GitHub and GitLab make it: everything lies in one folder
 * @param sha the commit that it must be of
 * @param path the folder whose files are taken; "" for all
 * @throws FetchFailure for an archive that is no such thing, damaged, cut off, too large or of another commit
 */
export async function readArchive(
  archive: ReadableStream<Uint8Array<ArrayBuffer>>,
  sha: string,
  { path }: Pick<Repository, "path">,
  bounds: ArchiveLimits = limits,
): Promise<ArchiveFiles> {
  const counting = createCounting();
  const taken = createTaken(sha, path, bounds);
  const entries = archive
    .pipeThrough(counting.upTo(bounds.archiveBytes, "the repository's archive"))
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeThrough(counting.upTo(bounds.archiveUnpackedBytes, "the repository, unpacked,"))
    // The decoder parses headers without end, and only the entries between them come out of it.
    .pipeThrough(
      counting.upTo(bounds.archiveHeaderBytes, "the archive's metadata (pax headers and long names)", taken.entryBytes),
    )
    .pipeThrough(createTarDecoder({ strict: true }));
  try {
    for await (const entry of entries) await taken.add(entry);
    return taken.all();
  } catch (cause) {
    const refusal = counting.refusal() ?? cause;
    if (refusal instanceof FetchFailure) throw refusal;
    throw new FetchFailure(
      502,
      `the archive is damaged or cut off (${causeText(cause)}); deliver the push again`,
      cause,
    );
  }
}

/** Bounds for streams. An error does not always get through the streams behind it unchanged, so the first refusal is kept here. */
function createCounting() {
  let refusal: FetchFailure | undefined;
  return {
    refusal: () => refusal,
    /** @param free bytes that do not count, of those that went through up to now */
    upTo(
      maxBytes: number,
      what: string,
      free: () => number = () => 0,
    ): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
      let bytes = 0;
      return new TransformStream({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes - free() <= maxBytes) return controller.enqueue(chunk);
          refusal ??= tooLarge(`${what} has more than ${maxBytes} bytes`);
          throw refusal;
        },
      });
    },
  };
}

const tooLarge = (what: string): FetchFailure =>
  new FetchFailure(
    422,
    `${what}; keep the configuration in a smaller repository, or push its folder with \`portolan push\``,
  );

function createTaken(sha: string, path: string, bounds: ArchiveLimits) {
  const files = new Map<string, SourceFile>();
  const inFolder = path === "" ? "" : `${path}/`;
  let bytes = 0;
  let entries = 0;
  let entryBytes = 0;
  let top: string | undefined;

  function take(file: SourceFile): void {
    if (!isWithin(file.file, bounds.nameBytes))
      throw new FetchFailure(
        422,
        `the name of a file is longer than ${bounds.nameBytes} bytes: ${file.file.slice(0, 100)}…`,
      );
    files.set(file.file, file);
    if (files.size > bounds.sourceFiles)
      throw tooLarge(`there are more than ${bounds.sourceFiles} files of configuration`);
  }

  return {
    /** Bytes of the entries up to now in the archive: the header of each and its body. */
    entryBytes: () => entryBytes,
    async add({ header, body }: ParsedTarEntry): Promise<void> {
      entries += 1;
      entryBytes += blockBytes * (1 + Math.ceil(header.size / blockBytes));
      if (Object.keys(header.pax ?? {}).length > maxPaxRecords)
        throw new FetchFailure(
          422,
          `a file of the archive has more than ${maxPaxRecords} pax records, which no \`git archive\` writes: look at the host`,
        );
      if (entries > bounds.archiveEntries)
        throw tooLarge(`the repository holds more than ${bounds.archiveEntries} files`);
      const [first = "", ...parts] = partsOf(header.name);
      if (top === undefined) refuseOtherCommit(sha, header.pax?.comment, first);
      top ??= first;
      if (first !== top)
        throw new FetchFailure(502, "the archive holds more than one folder, so it is none of a commit");
      const name = parts.join("/");
      const file = name.slice(inFolder.length);
      const isTaken = name.startsWith(inFolder) && isConfigFile(file) && !file.split("/").some(isPassedOver);
      if (isTaken && header.type === "file") {
        // Its size is known before a byte of it is kept.
        bytes += header.size;
        if (bytes > bounds.sourceBytes) throw tooLarge(`the configuration has more than ${bounds.sourceBytes} bytes`);
        return take({ file, text: await textOf(body) });
      }
      await body.cancel();
      if (isTaken && (header.type === "symlink" || header.type === "link"))
        take({ file, text: "", problem: linkProblem });
    },
    all: (): ArchiveFiles => ({
      files: [...files.values()].sort((a, b) => byCodePoint(a.file, b.file)),
      bytes,
    }),
  };
}

const linkProblem = "it is a link, which is not followed in a repository: put a copy of the file in its place";

/** Decodes as `readFile` does: a byte order mark stays. */
async function textOf(body: ParsedTarEntry["body"]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** @throws FetchFailure for a name that Git never writes, among them all that lead out of the archive */
function partsOf(name: string): readonly string[] {
  const parts = name.replace(/\/$/, "").split("/");
  if (parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"))) return parts;
  throw new FetchFailure(422, `the archive holds a path that Git never writes: ${name.slice(0, 100)}`);
}

/** @param comment which `git archive` sets to the commit @param top the archive's folder, whose name ends with the commit */
function refuseOtherCommit(sha: string, comment: string | undefined, top: string): void {
  const said = comment !== undefined && isSha(comment) ? comment : /-([0-9a-f]{7,64})$/.exec(top)?.[1];
  if (said === undefined || sha.startsWith(said)) return;
  throw new FetchFailure(502, `the archive is of another commit than ${sha}; deliver the push again`);
}
