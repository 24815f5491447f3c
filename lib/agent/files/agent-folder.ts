import { copyFile, link, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { causeText } from "../../config/cause-text.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { type FileContent, readFileOf } from "./envoy-files.ts";
import { draftEnding, replaceFile, writeDraft } from "./replace-file.ts";

/**
 * The files that an Envoy reads, and beside them, in `good/`, what it has last taken of each. Every file is replaced by a rename, and
 * says by its version whether it is whole.
 */
export interface AgentFolder {
  /** Writes all of them beside their places, so that a full disk is found out before anything has changed. @throws PortolanError */
  stage(files: ReadonlyMap<string, FileContent>): Promise<Staged>;
  /** Puts the same into its place once more, so that Envoy reads it again. */
  putAgain(path: string): Promise<void>;
  /** Envoy has taken what lies there: it is what a start without a control plane begins with. */
  keep(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Version of what lies there; undefined where nothing does. */
  versionOf(path: string): string | undefined;
  /** Puts back what was taken last in the place of what was not taken yet. */
  restore(): Promise<void>;
  /** What lies there. */
  current(path: string): Promise<ReturnType<typeof readFileOf>>;
  /** What was last taken. */
  good(path: string): Promise<ReturnType<typeof readFileOf>>;
  /** Whether what lies there is what was last taken. */
  isKept(path: string): boolean;
  /** Paths of all files of one resource. */
  leaves(): readonly string[];
}

export interface Staged {
  /** Puts it into its place. @returns false when the same lies there already */
  put(path: string): Promise<boolean>;
  /** Clears away what was not put into its place. */
  discard(): Promise<void>;
}

/** What was found at the start. */
export interface OpenedFolder {
  readonly folder: AgentFolder;
  /** Files that were not whole, and what became of them. */
  readonly damaged: readonly string[];
}

const folders = ["", "eds", "rds", "sds"];
const goodFolder = "good";

/**
 * Opens the folder of an agent that may have been killed at any moment.
 *
 * @param isRunning whether an Envoy reads the files now: then what was written last stays, else what was taken last comes back
 */
export async function openAgentFolder(root: string, isRunning: boolean): Promise<OpenedFolder> {
  for (const sub of folders) {
    for (const base of [root, join(root, goodFolder)]) await mkdir(join(base, sub), { recursive: true, mode: 0o755 });
  }
  const versions = new Map<string, string>();
  const kept = new Map<string, string>();
  const damaged: string[] = [];
  for (const path of await filesIn(root)) {
    const current = await readContent(join(root, path));
    const good = await readContent(join(root, goodFolder, path));
    if (good !== undefined) kept.set(path, good.version);
    if (good !== undefined && (current === undefined || (!isRunning && good.version !== current.version))) {
      if (current === undefined)
        damaged.push(`${path} was not whole: what Envoy had taken before is back in its place`);
      await copyInPlace(join(root, goodFolder, path), join(root, path));
      versions.set(path, good.version);
    } else if (current !== undefined) versions.set(path, current.version);
    else damaged.push(`${path} is not whole, and there is none before it`);
  }
  return { folder: openFolder(root, versions, kept), damaged };
}

function openFolder(root: string, versions: Map<string, string>, kept: Map<string, string>): AgentFolder {
  return {
    async stage(files) {
      const drafts = new Map<string, { readonly draft: string; readonly version: string }>();
      const discard = async () => {
        for (const { draft } of drafts.values()) await rm(draft, { force: true });
        drafts.clear();
      };
      try {
        for (const [path, { version, text }] of files) {
          if (versions.get(path) === version) continue;
          drafts.set(path, { draft: await writeDraft(join(root, path), text), version });
        }
      } catch (cause) {
        await discard();
        throw cannotWrite(root, cause);
      }
      return {
        async put(path) {
          const staged = drafts.get(path);
          if (staged === undefined) return false;
          await rename(staged.draft, join(root, path)).catch((cause: unknown) => {
            throw cannotWrite(root, cause);
          });
          drafts.delete(path);
          versions.set(path, staged.version);
          return true;
        },
        discard,
      };
    },
    async putAgain(path) {
      const text = await readFile(join(root, path), "utf8");
      await replaceFile(join(root, path), text).catch((cause: unknown) => {
        throw cannotWrite(root, cause);
      });
    },
    async keep(path) {
      await linkInPlace(join(root, path), join(root, goodFolder, path)).catch((cause: unknown) => {
        throw cannotWrite(root, cause);
      });
      kept.set(path, versions.get(path) ?? "");
    },
    async remove(path) {
      versions.delete(path);
      kept.delete(path);
      await rm(join(root, path), { force: true });
      await rm(join(root, goodFolder, path), { force: true });
    },
    async restore() {
      for (const [path, version] of kept) {
        if (versions.get(path) === version) continue;
        await copyInPlace(join(root, goodFolder, path), join(root, path));
        versions.set(path, version);
      }
    },
    versionOf: (path) => versions.get(path),
    current: (path) => readContent(join(root, path)),
    good: (path) => readContent(join(root, goodFolder, path)),
    isKept: (path) => kept.get(path) === versions.get(path),
    leaves: () => [...versions.keys()].filter((path) => path.includes("/")),
  };
}

function cannotWrite(root: string, cause: unknown): PortolanError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const why = code === "ENOSPC" ? "the disk is full" : causeText(cause);
  return new PortolanError(`cannot write into ${root}: ${why}; Envoy keeps what it has`, [], cause);
}

/** Collections and leaves, and what lies in `good/` alone. Drafts are cleared away. */
async function filesIn(root: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const sub of folders) {
    for (const base of [root, join(root, goodFolder)]) {
      for (const name of await readdir(join(base, sub))) {
        if (name.endsWith(draftEnding)) await rm(join(base, sub, name), { force: true });
        else if (isOurs(sub, name)) found.add(join(sub, name));
      }
    }
  }
  return [...found].sort();
}

const isOurs = (sub: string, name: string): boolean =>
  sub === "" ? name === "cds.json" || name === "lds.json" : sub !== "sds" && name.endsWith(".json");

async function readContent(path: string) {
  try {
    return readFileOf(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** The same file under another name; a copy where the file system has no links. */
async function linkInPlace(from: string, to: string): Promise<void> {
  const draft = `${to}${draftEnding}`;
  await rm(draft, { force: true });
  await link(from, draft).catch(() => copyFile(from, draft));
  await rename(draft, to);
  // Of two names of one file a rename leaves both.
  await rm(draft, { force: true });
}

async function copyInPlace(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await linkInPlace(from, to);
}
