/** Limit of what is retained, in bytes and in UTF-16 code units of texts. Anything beyond it is made again when it is read. */
const mostHeld = 64 * 1024 * 1024;

let compiles = 0;
let size = 0;
const held: object[] = [];

/**
 * Retains evictable values during a compile. They are read again until the publish: texts when they are cut into segments, segments when
 * they are written. Without this, the garbage collector would take them and they would be made twice.
 *
 * @param compile compiles and publishes; after it all is released, unless another compile runs
 */
export async function withRetained<T>(compile: () => Promise<T>): Promise<T> {
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

/** Retains an evictable value while a compile runs, within the limit. */
export function retain(value: object, length: number): void {
  if (compiles === 0 || size + length > mostHeld) return;
  held.push(value);
  size += length;
}
