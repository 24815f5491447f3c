import { type Classifier, type NodeClaims, project } from "../../snapshot/classifier.ts";
import type { Memo } from "../memo/memo.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { type ClassReads, serviceAccountAttribute } from "./class-reads.ts";

/** Proxies that nothing in a mesh can tell apart: what is selected for the first is selected for all. */
export interface AlikeProxies {
  readonly first: Proxy;
  /** Projections of the members, each once. */
  readonly projections: ReadonlySet<string>;
  readonly members: readonly AlikeProxy[];
}

export interface AlikeProxy {
  /** In the census. */
  readonly position: number;
  /** `podName.namespace` and addresses. */
  readonly keys: readonly string[];
}

/** Groups a census by all that is read of a proxy, in the order of the first members. It may tell apart too much, never too little. */
export function alikeProxies(
  mesh: Mesh,
  proxies: readonly Proxy[],
  reads: ClassReads,
  memo: Memo,
): readonly AlikeProxies[] {
  const classifier: Classifier = { ...reads, classes: {}, defaults: {} };
  const readsAddresses = addressesMatter(mesh);
  const groups = new Map<string, { first: Proxy; projections: Set<string>; members: AlikeProxy[] }>();
  for (const [position, proxy] of proxies.entries()) {
    const claimed = memo([proxy, reads], "signature", () => signatureOf(proxy, classifier));
    const targets = mesh.registry.serviceTargets(proxy);
    const served = targets.map(({ service, servicePort, targetPort }) => [
      service.attributes.namespace,
      service.hostname,
      servicePort.port,
      targetPort,
    ]);
    const key = `${claimed.signature}|${served.join("|")}|${readsAddresses ? proxy.addresses.join(",") : ""}`;
    const group = groups.get(key) ?? { first: proxy, projections: new Set(), members: [] };
    groups.set(key, group);
    if (claimed.projection !== undefined) group.projections.add(claimed.projection);
    group.members.push({ position, keys: [proxy.id, ...proxy.addresses] });
  }
  return [...groups.values()];
}

/** Istio's forms leave out a proxy's own address among headless endpoints; Sidecar ingress listeners may carry it in any form. */
function addressesMatter(mesh: Mesh): boolean {
  return (
    mesh.selecting.sidecars.some(({ spec }) => (spec.ingress ?? []).length > 0) ||
    (mesh.compat === "istio" && mesh.services.all.some((service) => service.resolution === "Passthrough"))
  );
}

interface Signature {
  readonly projection: string | undefined;
  readonly signature: string;
}

/** The projection by what the node claims, and the same by what the registries know. */
function signatureOf(proxy: Proxy, classifier: Classifier): Signature {
  const projection = project(classifier, claimsOf(proxy));
  const keys = [...(classifier.labels["*"]?.keys ?? []), ...(classifier.labels[proxy.namespace]?.keys ?? [])];
  const place = [proxy.locality, proxy.network, proxy.nodeName].filter((_, at) =>
    classifier.attributes.includes(["locality", "network", "nodeName"][at] ?? ""),
  );
  const account = classifier.attributes.includes(serviceAccountAttribute) ? proxy.serviceAccount : "";
  const known = [keys.map((key) => proxy.labels[key] ?? null), place, proxy.nodeCluster, account];
  return { projection, signature: `${projection ?? proxy.id}|${JSON.stringify(known)}` };
}

/** What a node would send for a proxy. */
export function claimsOf(proxy: Proxy): NodeClaims {
  return {
    id: [proxy.type, proxy.addresses[0] ?? "", proxy.id, proxy.dnsDomain].join("~"),
    cluster: proxy.nodeCluster,
    metadata: proxy.metadata.raw,
    locality: proxy.locality,
  };
}
