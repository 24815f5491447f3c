import {
  errorsIn,
  type FileState,
  type FilesByName,
  isUnreadable,
  type KeptText,
  keyOf,
  keysIn,
  type Placed,
  refusedKeys,
} from "./folder-state.ts";

/** Which files of a folder hold which objects: each file is gone through once, when it is first asked about. */
export interface Holdings {
  /** Those that hold a valid form, in their order. */
  filesOf(key: string): readonly string[];
  /** Whether a file refuses an object, or cannot be read, and has no valid form of it besides. */
  isBroken(file: string, key: string): boolean;
  /** What other files than its own say of an object, wherever it stands in them. */
  copiesOf(form: Pick<KeptText, "key" | "file">): readonly string[];
}

export function createHoldings(files: FilesByName): Holdings {
  let filesByKey: ReadonlyMap<string, readonly string[]> | undefined;
  const filesOf = (key: string): readonly string[] => {
    filesByKey ??= listFiles(files);
    return filesByKey.get(key) ?? [];
  };
  const known = new Map<string, FileHoldings>();
  const holdingsOf = (file: string): FileHoldings => {
    const holdings = known.get(file) ?? holdingsIn(files.get(file));
    known.set(file, holdings);
    return holdings;
  };
  return {
    filesOf,
    isBroken(file, key) {
      const { objects, refused, isUnreadable: isHidden } = holdingsOf(file);
      return !objects.has(key) && (isHidden || refused.has(key));
    },
    copiesOf: ({ key, file }) =>
      filesOf(key)
        .filter((one) => one !== file)
        .map((one) => JSON.stringify({ ...holdingsOf(one).objects.get(key), origin: undefined })),
  };
}

function listFiles(files: FilesByName): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [file, { read }] of files) {
    for (const key of keysIn(read())) {
      const others = found.get(key);
      if (others === undefined) found.set(key, [file]);
      else others.push(file);
    }
  }
  return found;
}

interface FileHoldings {
  /** Valid ones, by key. */
  readonly objects: ReadonlyMap<string, Placed>;
  readonly refused: ReadonlySet<string>;
  readonly isUnreadable: boolean;
}

const nothing: FileHoldings = { objects: new Map(), refused: new Set(), isUnreadable: false };

function holdingsIn(state: FileState | undefined): FileHoldings {
  if (state === undefined) return nothing;
  const read = state.read();
  return {
    objects: new Map([...read.configs, ...read.objects].map((object) => [keyOf(object), object])),
    refused: new Set(errorsIn(read).flatMap(refusedKeys)),
    isUnreadable: isUnreadable(state),
  };
}
