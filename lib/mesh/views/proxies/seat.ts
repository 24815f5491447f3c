import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { Mesh } from "../../mesh.ts";
import type { Seat } from "../../scope/scope-for.ts";
import { labelsOf, type ProxyAnswers } from "./proxy-answers.ts";

/** Where a proxy sees the mesh from. */
export const seatOf = trackedQuery(
  "seat of a proxy",
  ({ sidecars }: Pick<Mesh, "sidecars">, node: ProxyAnswers): Seat => {
    const { type, namespace } = node;
    return { type, namespace, sidecar: type === "router" ? undefined : sidecars.sidecarFor(namespace, labelsOf(node)) };
  },
);
