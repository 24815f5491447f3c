import { changedIndexes, withValues } from "../../incremental/list-delta.ts";
import type { Config } from "../config.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { joinLists } from "../join-lists.ts";

/** What files say, one after the other. */
export interface Lists {
  readonly configs: readonly Config[];
  readonly objects: readonly ParsedObject[];
  readonly others: readonly ParsedObject[];
}

/** Put together when it is first asked for. Of what no part says otherwise than before, it is the same list: tens of thousands of pods are not gone over. */
export interface FolderLists {
  lists(): Lists;
  /** What was put together, where anybody has asked. */
  readonly joined: JoinedLists | undefined;
}

type JoinedLists = { readonly [K in keyof Lists]: Joined<Lists[K][number]> };

interface Joined<T> {
  readonly parts: readonly (readonly T[])[];
  readonly list: readonly T[];
}

/** @param before of which nothing but what was put together is held */
export function createFolderLists(
  reads: () => readonly Lists[],
  before: Partial<Pick<FolderLists, "joined">> = {},
): FolderLists {
  const last = before.joined;
  let joined: JoinedLists | undefined;
  const join = (parts: readonly Lists[]): JoinedLists => ({
    configs: joinAgain(
      parts.map(({ configs }) => configs),
      last?.configs,
    ),
    objects: joinAgain(
      parts.map(({ objects }) => objects),
      last?.objects,
    ),
    others: joinAgain(
      parts.map(({ others }) => others),
      last?.others,
    ),
  });
  return {
    lists() {
      joined ??= join(reads());
      return { configs: joined.configs.list, objects: joined.objects.list, others: joined.others.list };
    },
    get joined() {
      return joined;
    },
  };
}

function joinAgain<T>(parts: readonly (readonly T[])[], last: Joined<T> | undefined): Joined<T> {
  return { parts, list: (last && joinedAfter(last, parts)) ?? joinLists(parts) };
}

/** What was put together with others where a part says otherwise; undefined where one says more or less than before. */
function joinedAfter<T>(
  { parts: before, list }: Joined<T>,
  parts: readonly (readonly T[])[],
): readonly T[] | undefined {
  if (before.length !== parts.length) return undefined;
  const places: number[] = [];
  const values: T[] = [];
  let begin = 0;
  for (const [at, part] of parts.entries()) {
    const changed = changedIndexes(before[at] ?? [], part);
    if (changed === undefined) return undefined;
    for (const place of changed) {
      places.push(begin + place);
      values.push(part[place] as T);
    }
    begin += part.length;
  }
  return withValues(list, places, values);
}
