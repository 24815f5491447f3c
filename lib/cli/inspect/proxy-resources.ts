import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import type { RootObjects } from "../../xds/explain/root-object.ts";

/** What a node has, and what is known of where it comes from. */
export interface NodeSource {
  /** One line that says what this is of. */
  readonly title: string;
  readonly resources: readonly StoredResource[];
  readonly objects: RootObjects;
  /** Of the node; "" where it is not known. */
  readonly namespace: string;
}
