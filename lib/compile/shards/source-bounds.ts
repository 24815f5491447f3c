import { limits } from "../../limits/limits.ts";
import { UnreadableSource } from "./unreadable-source.ts";

/** How large a source may be: what a few of its objects name, over and over, could stand for any size. */
export interface SourceBounds {
  /** Objects of a collected source, files of another. */
  readonly maxObjects: number;
  /** Of their texts. Counted are UTF-16 units, of which a byte in UTF-8 is never more. */
  readonly maxBytes: number;
}

export const sourceBounds: SourceBounds = { maxObjects: limits.sourceObjects, maxBytes: limits.sourceTextBytes };

/** What a source holds in all. @throws UnreadableSource where that is more than it may */
export function refuseLarge(name: string, objects: number, bytes: number, bounds: SourceBounds): void {
  if (objects > bounds.maxObjects)
    throw new UnreadableSource(`source ${name} holds more than ${bounds.maxObjects} objects: split it`);
  if (bytes > bounds.maxBytes)
    throw new UnreadableSource(`source ${name} holds more than ${bounds.maxBytes} bytes of text: split it`);
}

/** To be called before each piece of a source is worked on. @throws UnreadableSource where they come to more than they may */
export type Spend = (objects: number, bytes: number) => Promise<void>;

/** As much as is parsed and hashed in some tens of milliseconds. */
const bytesAtATime = 2 * 1024 * 1024;
const objectsAtATime = 10_000;

/** Counts what is gone through of a source, and lets others have the process between pieces of it. */
export function createSpend(name: string, bounds: SourceBounds): Spend {
  let all = { objects: 0, bytes: 0 };
  let rested = all;
  return async (objects, bytes) => {
    all = { objects: all.objects + objects, bytes: all.bytes + bytes };
    refuseLarge(name, all.objects, all.bytes, bounds);
    if (all.bytes - rested.bytes < bytesAtATime && all.objects - rested.objects < objectsAtATime) return;
    rested = all;
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
}
