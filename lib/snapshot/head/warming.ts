import type { CompiledResource } from "../compiled.ts";
import type { ShapeName } from "../resource-type.ts";

/**
 * Whether Envoy can use clusters as soon as it says that it has them. One that resolves names, checks its endpoints first, or waits for
 * a secret that no other cluster has brought, takes requests later, and nothing tells when.
 *
 * @param before clusters that it can use already
 * @see https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/cluster_manager#cluster-warming
 */
export function isReadyAtOnce(
  clusters: readonly CompiledResource[],
  before: readonly CompiledResource[],
  shape: ShapeName,
): boolean {
  const names = new Set(before.map(({ name }) => name));
  const added = clusters.filter(({ name }) => !names.has(name));
  return added.every(({ text }) => hasItsEndpoints(text, shape) && !bringsSecret(text, before));
}

/** The members of a cluster that make it wait. */
interface Cluster {
  readonly type?: string;
  readonly clusterType?: object;
  readonly healthChecks?: readonly object[];
}

function hasItsEndpoints(text: string, shape: ShapeName): boolean {
  const { type = "STATIC", clusterType, healthChecks = [] }: Cluster = JSON.parse(text);
  if (clusterType !== undefined || healthChecks.length > 0) return false;
  // A stream tells when the endpoints have come, too.
  return type === "STATIC" || type === "ORIGINAL_DST" || (type === "EDS" && shape === "stream");
}

const secretName = /"name":("[^"\\]+"),"sdsConfig":/g;

function bringsSecret(text: string, before: readonly CompiledResource[]): boolean {
  const known = (name: string) => before.some((other) => other.text.includes(`"name":${name},"sdsConfig":`));
  return [...text.matchAll(secretName)].some(([, name = ""]) => !known(name));
}
