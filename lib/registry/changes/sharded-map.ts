const shardCount = 512;

function shardOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return hash & (shardCount - 1);
}

/**
 * An immutable map from text, whose copy with a few changes shares all but the shards that they fall into. The
 * indexes of a registry are such maps: one changed pod among 50,000 must not cost a copy of them all.
 */
export class ShardedMap<V> {
  static readonly #empty: ShardedMap<never> = new ShardedMap<never>([], 0);
  readonly #shards: readonly (ReadonlyMap<string, V> | undefined)[];
  readonly size: number;

  private constructor(shards: readonly (ReadonlyMap<string, V> | undefined)[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  static empty<V>(): ShardedMap<V> {
    return ShardedMap.#empty;
  }

  /** A map of its own making, without the copies that changes to an existing one take. */
  static from<V>(entries: Iterable<readonly [string, V]>): ShardedMap<V> {
    const shards: (Map<string, V> | undefined)[] = new Array(shardCount).fill(undefined);
    let size = 0;
    for (const [key, value] of entries) {
      const index = shardOf(key);
      let shard = shards[index];
      if (shard === undefined) {
        shard = new Map();
        shards[index] = shard;
      }
      shard.set(key, value);
    }
    for (const shard of shards) size += shard?.size ?? 0;
    return new ShardedMap<V>(shards, size);
  }

  get(key: string): V | undefined {
    return this.size === 0 ? undefined : this.#shards[shardOf(key)]?.get(key);
  }

  /** A copy with the changes made, in their order; `undefined` removes. */
  with(changes: Iterable<readonly [string, V | undefined]>): ShardedMap<V> {
    const copied = new Map<number, Map<string, V>>();
    let size = this.size;
    for (const [key, value] of changes) {
      const index = shardOf(key);
      let shard = copied.get(index);
      if (shard === undefined) {
        shard = new Map(this.#shards[index]);
        copied.set(index, shard);
      }
      const before = shard.size;
      if (value === undefined) shard.delete(key);
      else shard.set(key, value);
      size += shard.size - before;
    }
    if (copied.size === 0) return this;
    const shards = this.#shards.length === 0 ? new Array<undefined>(shardCount).fill(undefined) : this.#shards;
    return new ShardedMap<V>(
      shards.map((shard, index) => copied.get(index) ?? shard),
      size,
    );
  }

  /** In no particular order. */
  *keys(): Generator<string> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.keys();
  }

  /** In no particular order. */
  *values(): Generator<V> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.values();
  }
}
