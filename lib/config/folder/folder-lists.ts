import type { Config } from "../config.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { joinLists } from "../join-lists.ts";
import { sameElements } from "../same-elements.ts";

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
  const isSame = last !== undefined && sameElements(last.parts, parts, sameElements);
  return isSame ? last : { parts, list: joinLists(parts) };
}
