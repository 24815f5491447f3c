import { sameElements } from "../../incremental/same-elements.ts";

/** The keys of what one file has, in its order. */
export interface FileKeys {
  readonly configs: readonly string[];
  readonly objects: readonly string[];
}

/** Whether a folder has no key twice: counted when it is first asked for, and then only where some file has other keys than before. */
export interface FolderKeys {
  areDistinct(): boolean;
  /** What was counted, where anybody has asked. */
  readonly counted: CountedKeys | undefined;
}

interface CountedKeys {
  readonly files: readonly FileKeys[];
  readonly areDistinct: boolean;
}

/**
 * @param keys of all files; of one that has the keys of before the same object
 * @param before of which nothing but what was counted is held
 */
export function createFolderKeys(keys: () => readonly FileKeys[], before: Counting = {}): FolderKeys {
  const last = before.counted;
  let counted: CountedKeys | undefined;
  const count = (): CountedKeys => {
    const files = keys();
    return last !== undefined && sameElements(last.files, files) ? last : { files, areDistinct: areDistinct(files) };
  };
  return {
    areDistinct() {
      counted ??= count();
      return counted.areDistinct;
    },
    get counted() {
      return counted;
    },
  };
}

type Counting = Partial<Pick<FolderKeys, "counted">>;

const areDistinct = (files: readonly FileKeys[]): boolean =>
  [files.flatMap(({ configs }) => configs), files.flatMap(({ objects }) => objects)].every(
    (keys) => new Set(keys).size === keys.length,
  );

/** The keys as they were, if they are. */
export const sameKeys = (last: FileKeys, now: FileKeys): FileKeys =>
  sameElements(last.configs, now.configs) && sameElements(last.objects, now.objects) ? last : now;
