import { readFileSync } from "node:fs";
import { istioKinds } from "../../lib/config/istio-kinds.ts";
import { eventually } from "../e2e/envoy.ts";
import { hasShared, sharedFolder } from "../shared.ts";
import type { ApiServer } from "./api-server.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Installs the definitions of Istio's kinds: Istio's own where they lie beside the repository, else some that take any spec. */
export async function installIstioKinds(server: ApiServer): Promise<void> {
  const texts = hasShared ? istioDefinitions() : plainDefinitions();
  for (const text of texts) {
    const response = await server.client.fetch(server.url + definitions, {
      method: "POST",
      headers: { authorization: server.authorization, "content-type": "application/yaml" },
      body: text,
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
  // A definition is there before it is served.
  await eventually(
    async () =>
      server.ask("GET", "/apis/networking.istio.io/v1/virtualservices").then(
        () => true,
        () => false,
      ),
    (isServed) => isServed,
    30_000,
  );
}

function istioDefinitions(): readonly string[] {
  const file = new URL("conformance/registries/kubernetes/istio-crds.yaml", sharedFolder);
  const documents = readFileSync(file, "utf8").split(/^---$/m);
  return documents.filter((text) => text.includes("kind: CustomResourceDefinition"));
}

function plainDefinitions(): readonly string[] {
  return istioKinds
    .filter(({ group }) => group.endsWith(".istio.io"))
    .map(({ group, kind, plural, versions, clusterScoped }) =>
      JSON.stringify({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
          scope: clusterScoped ? "Cluster" : "Namespaced",
          versions: versions.map((name, at) => ({
            name,
            served: true,
            storage: at === 0,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            subresources: { status: {} },
          })),
        },
      }),
    );
}
