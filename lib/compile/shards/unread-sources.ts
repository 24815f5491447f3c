import { type Diagnostic, PortolanError, type Stage } from "../../base/diagnostic.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import type { ReadHead } from "../../snapshot/head/head.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { withEarlier } from "../compile-files.ts";
import { publishedVersions } from "./published-versions.ts";
import type { Keeping } from "./unreadable-source.ts";

/** What is wrong with the sources of one compile. */
export interface UnreadSources {
  readonly keeping: Keeping;
  /** Of sources that were read so far. */
  readonly diagnostics: () => readonly Diagnostic[];
  /** For when no source at all can be read. @returns undefined where none was found damaged */
  readonly nothingRead: () => PortolanError | undefined;
}

/** @param base HEAD, as it was read for the compile */
export function createUnreadSources(store: ObjectStore, base: ReadHead | undefined): UnreadSources {
  const diagnostics: Diagnostic[] = [];
  const reasons: string[] = [];
  let published: ReturnType<Keeping["published"]> | undefined;
  const keeping: Keeping = {
    // Read once, when a source asks for it.
    published: () => {
      published ??= publishedVersions(store, base);
      return published;
    },
    tell(diagnostic, reason) {
      diagnostics.push(diagnostic);
      reasons.push(reason);
    },
  };
  return {
    keeping,
    diagnostics: () => diagnostics,
    nothingRead() {
      if (reasons.length === 0) return undefined;
      return new PortolanError(`no source can be read, and HEAD is as it was: ${reasons.join("; ")}`, diagnostics);
    },
  };
}

/** A compiled world with what is wrong with the sources that it was compiled from. */
export const withUnread = (compiled: Stage<CompiledWorld>, { diagnostics }: UnreadSources): Stage<CompiledWorld> =>
  diagnostics().length === 0 ? compiled : withEarlier(compiled, diagnostics());

/** The same for a world that others, or slices, have compiled. */
export const worldWithUnread = (world: CompiledWorld, unread: UnreadSources): Stage<CompiledWorld> =>
  withUnread({ value: world, diagnostics: world.diagnostics }, unread);
