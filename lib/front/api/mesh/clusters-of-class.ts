import type { LoadedRoot } from "../../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../../snapshot/reader/snapshot-reader.ts";
import type { ProxyClass } from "../../../snapshot/root.ts";

/** An outbound cluster, by its name `outbound|<port>|<subset>|<host>`. */
export interface Outbound {
  readonly host: string;
  readonly port: number;
  /** "" for the whole service. */
  readonly subset: string;
}

/** @returns undefined for a name that is none of an outbound cluster's */
export function outboundOf(cluster: string): Outbound | undefined {
  const [, port = "", subset = "", host = ""] = /^outbound\|(\d{1,5})\|([^|]*)\|(.+)$/.exec(cluster) ?? [];
  return host === "" ? undefined : { host, port: Number(port), subset };
}

/** Where services are that no namespace of the mesh has: names on the internet, addresses. */
const outside = "";

/** Namespace of a service by its host name: `ratings.shop.svc.cluster.local`. */
export const namespaceOfHost = (host: string): string => /^[^.]+\.([^.]+)\.svc\./.exec(host)?.[1] ?? outside;

/** Segments that are read for one picture. */
const maxSegments = 4_000;

/** Reads which clusters classes have; what they share is gone over once. */
export interface ClusterReader {
  /** @returns undefined when more was asked for than one picture may cost */
  hosts(proxyClass: ProxyClass): Promise<ReadonlySet<string> | undefined>;
}

export function createClusterReader(reader: SnapshotReader, { root }: LoadedRoot): ClusterReader {
  const known = new Map<string, readonly string[]>();
  let left = maxSegments;
  return {
    async hosts({ stream }) {
      const hosts = new Set<string>();
      for (const { key, segments } of await reader.parts(root, "clusters", stream.clusters)) {
        const names = known.get(key) ?? (await namesIn(segments));
        if (names === undefined) return undefined;
        known.set(key, names);
        for (const host of names) hosts.add(host);
      }
      return hosts;
    },
  };

  async function namesIn(
    segments: Awaited<ReturnType<SnapshotReader["parts"]>>[number]["segments"],
  ): Promise<readonly string[] | undefined> {
    left -= segments.length;
    if (left < 0) return undefined;
    const hosts = new Set<string>();
    for (const segment of segments) {
      for (const name of (await reader.entries(segment)).keys()) {
        const host = outboundOf(name)?.host;
        if (host !== undefined) hosts.add(host);
      }
    }
    return [...hosts];
  }
}
