import { mappedList } from "./mapped-list.ts";
import type { Memo } from "./memo.ts";

interface Named {
  readonly name: string;
}

/**
 * The names of a long list's elements, in their order: the same list as long as they are, since what is exchanged in such a list has as a rule
 * the name of what was there.
 *
 * @param kind of the lists, which tells them apart when they are found again; it never decides what comes out
 */
export const namesOf = (memo: Memo, kind: string, list: readonly Named[]): readonly string[] =>
  nameOfEach(memo, `${kind}|${list.length}|${list[0]?.name}`, list, {});

const nameOfEach = mappedList("names of elements", ({ name }: Named): string => name);
