/** Several lists, one behind the other. Most are empty, and to spread eight of those into a literal costs more than what is in the others. */
export function inOrder<T>(...lists: readonly (readonly T[])[]): T[] {
  const all: T[] = [];
  for (const list of lists) for (let at = 0; at < list.length; at++) all.push(list[at] as T);
  return all;
}
