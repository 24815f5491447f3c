import type { Diagnostic } from "../../base/diagnostic.ts";

/** What a compile records of itself, so that a later one can reuse its results. */
export interface Made {
  /** Hash of all that a result depends on besides the sources: the compiler's code and its options. */
  readonly key: string;
  /** What making the answers of a class had to say, by `<class id>/<types that are made together>`, without those that say nothing. */
  readonly spoken: Readonly<Record<string, readonly Diagnostic[]>>;
}

/** The stored form, with each diagnostic and each list of them once. */
export interface ReuseRecord {
  readonly key: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly lists: readonly (readonly number[])[];
  /** Index of the list, by what it was said of. */
  readonly spoken: Readonly<Record<string, number>>;
  /** Names of secrets, by the key of a part that names some; sorted. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
}

/** @param secrets by the key of the part */
export function recordOf({ key, spoken }: Made, secrets: ReuseRecord["secrets"]): ReuseRecord {
  const diagnostics = new Map<string, number>();
  const lists = new Map<string, number>();
  const indexIn = (index: Map<string, number>, text: string): number => {
    const known = index.get(text) ?? index.size;
    index.set(text, known);
    return known;
  };
  const indexes = Object.entries(spoken).map(([name, said]) => {
    const list = said.map((diagnostic) => indexIn(diagnostics, JSON.stringify(diagnostic)));
    return [name, indexIn(lists, JSON.stringify(list))] as const;
  });
  return {
    key,
    diagnostics: [...diagnostics.keys()].map((text) => JSON.parse(text)),
    lists: [...lists.keys()].map((text) => JSON.parse(text)),
    spoken: Object.fromEntries(indexes),
    secrets,
  };
}

/** As it was before it was stored. */
export const madeOf = ({ key, diagnostics, lists, spoken }: ReuseRecord): Made => ({
  key,
  spoken: Object.fromEntries(
    Object.entries(spoken).map(([name, list]) => [name, (lists[list] ?? []).flatMap((at) => diagnostics[at] ?? [])]),
  ),
});

/** @param text of a blob, whose name vouches for it @returns undefined for what no version of Portolan has written so */
export function readRecord(text: string | undefined): ReuseRecord | undefined {
  if (text === undefined) return undefined;
  const { key, diagnostics, lists, spoken, secrets }: Partial<ReuseRecord> = JSON.parse(text);
  if (key === undefined || diagnostics === undefined || lists === undefined) return undefined;
  return spoken === undefined || secrets === undefined ? undefined : { key, diagnostics, lists, spoken, secrets };
}
