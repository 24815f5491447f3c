import type { EndpointPerspective } from "../../mesh/views/views.ts";

/** A perspective as text, for memo keys: all of it is plain values. */
export function perspectiveText(perspective: EndpointPerspective): string {
  return JSON.stringify(perspective);
}
