import type { LabelSelector } from "../../../config/kinds/selector.ts";
import type { GrantSource } from "../grants.ts";

/** Kinds of objects with certificates to check clients against. */
export type RootKind = "ConfigMap" | "Secret" | "ClusterTrustBundle";

/** What listeners may ask of the rest of the world; every answer is recorded (`lib/incremental/tracked-query.ts`). */
export interface ListenerSource extends GrantSource {
  /** What is wrong with the key pair of a Secret: "" for nothing, `not found`, or what a condition says of it. */
  keyPairProblem(namespace: string, name: string): string;
  /** The same of the certificates that an object holds to check others against; a ClusterTrustBundle is known by its name alone. */
  rootProblem(kind: RootKind, namespace: string, name: string): string;
  /** Whether there is a ConfigMap, or may be one that no source holds. */
  hasConfigMap(namespace: string, name: string): boolean;
  /** Names of the namespaces that a selector picks, sorted. */
  namespacesOf(selector: LabelSelector): readonly string[];
}
