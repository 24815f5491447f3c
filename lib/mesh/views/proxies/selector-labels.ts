import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { Service } from "../../../registry/service.ts";
import { groupBy } from "../../group-by.ts";
import type { Mesh } from "../../mesh.ts";
import type { ProxyAnswers } from "./proxy-answers.ts";

/** Asks for every label that some service of the proxy's namespace selects workloads by. */
export function readSelectorLabels(mesh: Pick<Mesh, "services">, node: ProxyAnswers, memo: Memo): void {
  const keys = selectorKeys(memo, { services: mesh.services.all }).get(node.namespace);
  for (const key of keys ?? []) node.label(key);
}

/** Label keys in selectors of services, sorted, by namespace. */
const selectorKeys = query(
  "selector labels of services",
  ({ services }: { readonly services: readonly Service[] }): ReadonlyMap<string, readonly string[]> => {
    const grouped = groupBy(services, (service) => service.attributes.namespace);
    return new Map(
      [...grouped].map(([namespace, list]) => [
        namespace,
        [...new Set(list.flatMap((service) => Object.keys(service.attributes.selector ?? {})))].sort(),
      ]),
    );
  },
);
