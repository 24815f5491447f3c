import type { CollectedShard } from "../collected/collected-shard.ts";
import type { SourceShard } from "./source-shard.ts";

/** What a source holds in one version: a folder's files and what was applied, or what a collector has brought. */
export type ShardContent = SourceShard | CollectedShard;

/** A source whose configuration is that of another version than its registry. */
export interface HeldShard {
  readonly name: string;
  /** Of the registry. */
  readonly version: string;
  readonly newest: ShardContent;
  readonly held: {
    /** "" for none. */
    readonly version: string;
    readonly content: ShardContent;
  };
  readonly isMeantEmpty?: boolean;
}

/** A source as it is compiled. */
export type Shard = ShardContent | HeldShard;

export const isCollected = (shard: Shard): shard is CollectedShard => "about" in shard;

export const isHeld = (shard: Shard): shard is HeldShard => "held" in shard;

/** A source that holds nothing. */
export const emptySource = (name: string): SourceShard => ({ name, version: "", files: [] });
