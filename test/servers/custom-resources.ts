import { readFileSync } from "node:fs";
import { gatewayApiKinds } from "../../lib/config/gateway-api/gateway-api-kinds.ts";
import { istioKinds } from "../../lib/config/istio-kinds.ts";
import type { KindSchema } from "../../lib/config/kind-schema.ts";
import { eventually } from "../e2e/envoy.ts";
import { hasShared, sharedFolder } from "../shared.ts";
import type { ApiServer } from "./api-server.ts";
import { type GatewayApiRelease, gatewayApiDefinitions } from "./server-binaries.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Installs the definitions of Istio's kinds: Istio's own where they lie beside the repository, else some that take any spec. */
export async function installIstioKinds(server: ApiServer): Promise<void> {
  const texts = hasShared ? istioDefinitions() : plainDefinitions(istioKinds.filter(isIstios));
  await install(server, texts, "/apis/networking.istio.io/v1/virtualservices");
}

/** The same, always those that take any spec: nothing but what is looked at refuses an object. */
export const installPlainKinds = (server: ApiServer): Promise<void> =>
  install(server, plainDefinitions(istioKinds.filter(isIstios)), "/apis/networking.istio.io/v1/virtualservices");

/** Installs the definitions of the Gateway API's kinds: its own where `npm run test:servers` has fetched them, else some that take any spec. */
export async function installGatewayApiKinds(server: ApiServer, release: GatewayApiRelease = "1.7.0"): Promise<void> {
  const files = gatewayApiDefinitions(release);
  const texts = files?.map((file) => readFileSync(file, "utf8")) ?? plainDefinitions(gatewayApiKinds);
  await install(server, texts, "/apis/gateway.networking.k8s.io/v1/httproutes");
}

async function install(server: ApiServer, texts: readonly string[], served: string): Promise<void> {
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
      server.ask("GET", served).then(
        () => true,
        () => false,
      ),
    (isServed) => isServed,
    30_000,
  );
}

const isIstios = ({ group }: KindSchema): boolean => group.endsWith(".istio.io");

function istioDefinitions(): readonly string[] {
  const file = new URL("conformance/registries/kubernetes/istio-crds.yaml", sharedFolder);
  const documents = readFileSync(file, "utf8").split(/^---$/m);
  return documents.filter((text) => text.includes("kind: CustomResourceDefinition"));
}

function plainDefinitions(kinds: readonly KindSchema[]): readonly string[] {
  return kinds.map(({ group, kind, plural, versions, clusterScoped }) =>
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
