import { tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import type { Seat } from "../scope/scope-for.ts";
import { labelsOf, type ProxyAnswers } from "./proxy-answers.ts";

/** Where a proxy sees the mesh from. */
export const seatOf = tracedStep(
  "seat of a proxy",
  { sidecars: "identity" },
  ({ sidecars }: Pick<Mesh, "sidecars">, node: ProxyAnswers): Seat => {
    const { type, namespace } = node;
    return { type, namespace, sidecar: type === "router" ? undefined : sidecars.sidecarFor(namespace, labelsOf(node)) };
  },
);
