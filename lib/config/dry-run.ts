import { fieldsOf, textOf } from "../base/untyped.ts";

/** By which an AuthorizationPolicy is only tried out. */
export const dryRunAnnotation = "istio.io/dry-run";

/** Whether the annotations of a policy say that it is only tried out. */
export const isDryRun = (annotations: unknown): boolean =>
  // Go's ParseBool decides what counts as true.
  /^(1|t|T|true|TRUE|True)$/.test(textOf(fieldsOf(annotations)[dryRunAnnotation]));
