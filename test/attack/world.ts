import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files/files.ts";

const bookshop = new URL("../../samples/bookshop", import.meta.url).pathname;

/** What the victim is protected by: whoever gets it into another class takes this away. */
const policies = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: nobody, namespace: bookshop }
spec:
  selector: { matchLabels: { app: storefront } }
  action: DENY
  rules: [{}]
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: strict, namespace: bookshop }
spec:
  selector: { matchLabels: { app: storefront } }
  mtls: { mode: STRICT }
`;

/** Enough services that answers are large. */
const services = Array.from(
  { length: 400 },
  (_, at) => `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: s${at}, namespace: bookshop }
spec:
  hosts: [s${at}.example]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  location: MESH_INTERNAL
  resolution: STATIC
  endpoints: [{ address: 10.1.${at >> 8}.${at & 255} }, { address: 10.2.${at >> 8}.${at & 255} }]
`,
).join("");

/** Publishes the sample shop with a guarded storefront, binary forms and v1 answers into a folder. */
export async function publishWorld(folder: string): Promise<void> {
  const store = fileStore(folder, { durable: false });
  const compile = createFileCompiler({ ...defaultWorldOptions, binaryForms: true, legacyApi: "0.8" });
  const files = [...(await readFolder(bookshop)), { file: "attacked.yaml", text: policies + services }];
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(compile(files, []).value, await publisher.head());
}

/** Some of what an Envoy says of itself, as it comes in every poll. */
const extensions = Array.from({ length: 500 }, (_, at) => ({
  name: `envoy.filters.http.filter_${at}`,
  category: "envoy.filters.http",
  type_urls: ["envoy.extensions.filters.http.some.v3.Filter"],
}));

export const nodeOf = (name: string, labels: Readonly<Record<string, string>>) => ({
  id: `sidecar~127.0.0.14~${name}.bookshop~bookshop.svc.cluster.local`,
  cluster: `${name}.bookshop`,
  metadata: { NAMESPACE: "bookshop", CLUSTER_ID: "Kubernetes", LABELS: labels },
  locality: { region: "region-1" },
  user_agent_name: "envoy",
  extensions,
});

const victimName = "storefront-1";
export const victim = nodeOf(victimName, { app: "storefront", "security.istio.io/tlsMode": "istio" });
/** Somebody who says he was the victim, but for what decides its class. */
export const impostor = (labels: Readonly<Record<string, string>>) => nodeOf(victimName, labels);

export const typeUrls = {
  clusters: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  listeners: "type.googleapis.com/envoy.config.listener.v3.Listener",
  routes: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
} as const;

/** A DiscoveryRequest as Envoy writes it. */
export const pollOf = (
  type: keyof typeof typeUrls,
  node: object,
  version?: string,
  names?: readonly string[],
): string =>
  JSON.stringify({
    ...(version === undefined ? {} : { version_info: version }),
    node,
    ...(names === undefined ? {} : { resource_names: names }),
    type_url: typeUrls[type],
  });
