import type { LabelSelector } from "../../config/kinds/selector.ts";
import type { GrantSource } from "./grants.ts";

/** What listeners may ask of the rest of the world; every answer is recorded (`lib/mesh/memo/traced-step.ts`). */
export interface ListenerSource extends GrantSource {
  /** What is wrong with the key pair of a Secret: "" for nothing, `not found`, or what a condition says of it. */
  keyPairProblem(namespace: string, name: string): string;
  /** The same of the certificates that a Secret or a ConfigMap holds to check others against. */
  rootProblem(kind: "ConfigMap" | "Secret", namespace: string, name: string): string;
  /** Names of the namespaces that a selector picks, sorted. */
  namespacesOf(selector: LabelSelector): readonly string[];
}
