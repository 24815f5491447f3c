/** The elements of lists, one after the other. `flat` and `flatMap` take ten times as long over tens of thousands. */
export function joinLists<T>([first = [], ...others]: readonly (readonly T[])[]): readonly T[] {
  return first.concat(...others);
}
