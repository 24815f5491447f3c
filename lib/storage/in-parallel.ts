/** Nearly as many as a client of S3 has connections: behind a wire it is the rounds that take time. */
const maxAtATime = 48;

/**
 * Acts on all items, so many at a time: each is asked for when its turn has come, and none after one has failed.
 *
 * @returns the results, in the order of the items
 */
export async function inParallel<T, R>(items: Iterable<T>, act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  // One iterator, several takers.
  const queue = inOrder(items);
  await Promise.all(
    Array.from({ length: maxAtATime }, async () => {
      for (const [i, item] of queue) results[i] = await act(item);
    }),
  );
  return results;
}

function* inOrder<T>(items: Iterable<T>): Generator<readonly [number, T]> {
  let i = 0;
  for (const item of items) yield [i++, item];
}
