/**
 * FNV-1a of the name, mixed once more, as a fraction from 0 to 1: even where names differ in their last letter only.
 *
 * @param prefix stands before the name, which is long and need not be copied for it
 */
export function nameHash(name: string, prefix = ""): number {
  let hash = 0x811c9dc5;
  for (const text of [prefix, name]) {
    for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
