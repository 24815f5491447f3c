import type { Config } from "../../config/config.ts";

/**
 * What an object is called in a view's key. What was made for single workloads is told apart by what it says: workloads may
 * have different objects of one name.
 */
export function objectName({ meta, madeFrom }: Config): readonly string[] {
  const name = [meta.group, meta.kind, meta.namespace, meta.name];
  return madeFrom === undefined ? name : [...name, meta.resourceVersion];
}

export const objectNames = (configs: readonly Config[]): readonly (readonly string[])[] => configs.map(objectName);
