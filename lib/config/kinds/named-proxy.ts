import type { Origin } from "../../base/diagnostic.ts";
import type { Labels } from "../values/labels.ts";

/** A proxy that the settings of a folder name: no workload of any registry says that it is there. */
export interface NamedProxy {
  /** What it says as `node.id`: in Istio's form, or any other text. */
  readonly id: string;
  /** Of one whose id does not say it. */
  readonly type: "sidecar" | "router";
  readonly namespace: string;
  /** Of one whose id does not say it; empty where nobody knows. */
  readonly addresses: readonly string[];
  /** `node.cluster`, "" for none. */
  readonly cluster: string;
  /** `region/zone/subzone`, "" for none. */
  readonly locality: string;
  readonly labels: Labels;
  /** As it sends it; namespace and labels go with it. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** A node has asked for its class, and nobody else has named it: it stands for those that are like it, and is found by no name. */
  readonly isWanted: boolean;
  readonly origin: Origin;
}
