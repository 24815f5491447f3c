import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { Root } from "../../snapshot/root.ts";
import type { Place } from "../../trace/decision.ts";

/** A resource that a request comes by, as it is stored. */
export interface PassedResource {
  readonly type: ResourceType;
  readonly name: string;
  readonly version: string;
  /** Objects that it was made from. */
  readonly from: readonly string[];
  /** Its JSON. */
  readonly text: string;
}

/** An object behind a decision, down to the field that counts there. */
export interface CauseAt {
  readonly object: string;
  /** `reviews.yaml:12`; absent where the source's text is kept no more. */
  readonly at?: string;
}

/**
 * Reads, from the sources of a root, what made the resources of a trace. A port: only where sources are read anyhow is there one, because reading
 * a large one would keep those waiting who are to be served.
 *
 * @param namespace of the node; "" where it is not known
 */
export type FindCauses = (
  sources: Root["sources"],
  resources: readonly PassedResource[],
  namespace: string,
) => Promise<(place: Place) => readonly CauseAt[]>;
