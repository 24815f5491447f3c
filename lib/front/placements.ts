import type { Root } from "../snapshot/root.ts";

/** Classes of nodes that were placed before, by the node's id and cluster. */
export interface Placements {
  get(root: Root, nodeId: string, nodeCluster: string): string | undefined;
  set(root: Root, nodeId: string, nodeCluster: string, classId: string): void;
}

const maxNodes = 50_000;
const maxCensuses = 4;

/**
 * Remembers placements for as long as what decides them stays the same: classifier, classes and node index. Most changes are of
 * content only, and then no node has to be read whole again.
 */
export function rememberPlacements(): Placements {
  const censuses = new Map<string, Map<string, string>>();

  function censusOf(root: Root): Map<string, string> {
    const key = [root.classifier, root.classes, ...root.nodes.map(({ hash }) => hash)].join();
    const census = censuses.get(key) ?? new Map<string, string>();
    if (!censuses.has(key)) {
      const [oldest] = censuses.keys();
      if (censuses.size >= maxCensuses && oldest !== undefined) censuses.delete(oldest);
      censuses.set(key, census);
    }
    return census;
  }

  const known = new WeakMap<Root, Map<string, string>>();
  const of = (root: Root) => {
    const census = known.get(root) ?? censusOf(root);
    known.set(root, census);
    return census;
  };
  return {
    get: (root, nodeId, nodeCluster) => of(root).get(`${nodeId}\n${nodeCluster}`),
    set(root, nodeId, nodeCluster, classId) {
      const census = of(root);
      if (census.size >= maxNodes) census.clear();
      census.set(`${nodeId}\n${nodeCluster}`, classId);
    },
  };
}
