import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { Mesh } from "../../mesh.ts";
import type { ProxyKey } from "../../scope/scope-for.ts";
import { labelsOf, type ProxyAnswers } from "./proxy-answers.ts";

/** What selects the scope of a proxy. */
export const proxyKeyOf = trackedQuery(
  "key of a proxy",
  ({ sidecars }: Pick<Mesh, "sidecars">, node: ProxyAnswers): ProxyKey => {
    const { type, namespace } = node;
    return { type, namespace, sidecar: type === "router" ? undefined : sidecars.sidecarFor(namespace, labelsOf(node)) };
  },
);
