/** At most so much is held, in bytes and in UTF-16 code units of texts: whatever else there is is made again when it is asked for. */
const mostHeld = 64 * 1024 * 1024;

let compiles = 0;
let size = 0;
const held: object[] = [];

/**
 * What a compile makes is asked for again until it is published: texts when they are cut into segments, these when they are written. Between
 * two compiles nobody holds it, and within one only this does; a collection would take it, and have it made twice.
 *
 * @param compile and publish, after which all is let go, unless another one is under way
 */
export async function withHeld<T>(compile: () => Promise<T>): Promise<T> {
  compiles += 1;
  try {
    return await compile();
  } finally {
    compiles -= 1;
    if (compiles === 0) {
      held.length = 0;
      size = 0;
    }
  }
}

/** Holds what can be made again, as long as a compile is under way and there is room. */
export function hold(value: object, length: number): void {
  if (compiles === 0 || size + length > mostHeld) return;
  held.push(value);
  size += length;
}
