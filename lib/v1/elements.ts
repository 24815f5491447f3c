import { query } from "../incremental/query.ts";
import { type SharedElements, shareElements } from "../legacy/compose-document.ts";
import { encodeDocument } from "../legacy/go-json.ts";
import { elementText, listForm } from "../legacy/listed-texts.ts";
import { servedCluster } from "./clusters/cds.ts";
import type { CdsDocument, Cluster, LdsDocument, Listener, Registration, RouteConfig } from "./documents.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import { type BuiltHost, virtualHost } from "./routes/outbound-routes.ts";

/** What stands around the lists of documents. */
export const forms = {
  clusters: listForm(encodeDocument({ clusters: [] } satisfies CdsDocument), 2),
  listeners: listForm(encodeDocument({ listeners: [] } satisfies LdsDocument), 2),
  routes: listForm(encodeDocument({ validate_clusters: true, virtual_hosts: [] } satisfies RouteConfig), 2),
  registrations: listForm(encodeDocument([] satisfies readonly Registration[]), 1),
};

/** @returns the text of a cluster */
export const clusterText =
  (mesh: LegacyMesh) =>
  (cluster: Cluster): string =>
    elementText(servedCluster(mesh, cluster), forms.clusters);

export const listenerText = (listener: Listener): string => elementText(listener, forms.listeners);

export const registrationText = (registration: Registration): string => elementText(registration, forms.registrations);

/** By the object: a virtual host is in the tables of all namespaces, and nothing else decides its text. */
const textsOfHosts = new WeakMap<BuiltHost, string>();

export function hostText(host: BuiltHost): string {
  const known = textsOfHosts.get(host);
  if (known !== undefined) return known;
  const text = elementText(virtualHost(host), forms.routes);
  textsOfHosts.set(host, text);
  return text;
}

interface Clusters {
  readonly mesh: LegacyMesh;
  readonly list: readonly Cluster[];
}

export const sharedClusters = query(
  "shared clusters of the v1 API",
  ({ mesh, list }: Clusters): SharedElements => shareElements(list.map(clusterText(mesh))),
);

export const sharedListeners = query(
  "shared listeners of the v1 API",
  ({ list }: { readonly list: readonly Listener[] }): SharedElements => shareElements(list.map(listenerText)),
);
