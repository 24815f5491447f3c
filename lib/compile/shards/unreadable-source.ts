import { type Diagnostic, fileOrigin, PortolanError } from "../../base/diagnostic.ts";

/**
 * What a source has in the store is not what a writer of Portolan's leaves there: its list is none, or a text that it names is absent or
 * damaged. A store that does not answer is another matter, and a plain `PortolanError`.
 */
export class UnreadableSource extends PortolanError {}

/** How a compile treats a source that cannot be read. */
export interface Keeping {
  /** The versions that the newest publish was compiled from, by source. They were readable then, and are kept while HEAD names that root. */
  readonly published: () => Promise<ReadonlyMap<string, string>>;
  /** Takes what is said of a source whose earlier version is compiled, or which is left out, and in detail what is wrong with it. */
  readonly tell: (diagnostic: Diagnostic, reason: string) => void;
}

/**
 * The version to compile in place of a source that cannot be read.
 *
 * @returns undefined for a source that was never part of a publish: it is left out, which takes nothing from anybody
 * @throws what `cause` is, unless it is an UnreadableSource
 */
export async function versionInstead(name: string, cause: unknown, keeping: Keeping): Promise<string | undefined> {
  if (!(cause instanceof UnreadableSource)) throw cause;
  const version = (await keeping.published()).get(name);
  keeping.tell(unreadableSource(name, version), cause.message);
  return version;
}

/** The same for every process that finds the source so, whatever it has read of it first: it is part of the root. */
function unreadableSource(name: string, version: string | undefined): Diagnostic {
  const now =
    version === undefined
      ? "it was never published, and is left out"
      : `its last published version (${version.slice(0, 12)}) is compiled in its place`;
  return {
    code: "unreadable-source",
    severity: "error",
    origin: fileOrigin(name),
    path: [],
    message: `source ${name} cannot be read: what the store has of it is damaged, or lacks a part; ${now}, and the other sources are not affected`,
    hint: "`portolan fsck` shows what is wrong; fill the source again: push its folder, or restart its collector",
  };
}
