import { type Collector, type CollectorOptions, createCollector } from "../collect/collector.ts";
import { defaultWorldOptions } from "../compile/world-of.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { connectCluster } from "../registry/kubernetes/access/connect.ts";
import { kubernetesOrigin } from "../registry/kubernetes/api/kubernetes-origin.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { DevReport } from "./dev-report.ts";

/** A live cluster beside the folder of `portolan dev`, or in its place. */
export interface DevCluster {
  /** Name of the source that it fills. */
  readonly source: string;
  /** Of its API server. */
  readonly url: string;
  readonly description: string;
  collector(
    store: ObjectStore,
    report: Pick<DevReport, "troubled">,
    told?: Pick<CollectorOptions, "pushed" | "filled">,
  ): Collector;
}

/**
 * Connects contexts of kubectl, "" for the current one. The first is the primary cluster, whose id is the mesh's own; the others go
 * by their contexts' names.
 *
 * @throws PortolanError for a context that is not there, or is there twice
 */
export async function devClusters(contexts: readonly string[]): Promise<readonly DevCluster[]> {
  const connected = await Promise.all(contexts.map((context) => connectCluster(context === "" ? undefined : context)));
  const names = connected.map(({ context }) => context);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new PortolanError(`--kube names the context ${twice} twice`);
  return connected.map(({ client, context }, at): DevCluster => {
    const cluster = at === 0 ? defaultWorldOptions.clusterId : context;
    const source = `cluster-${context}`;
    return {
      source,
      url: client.baseUrl,
      description: `cluster ${context}`,
      collector: (store, report, told) =>
        createCollector({
          store,
          source,
          origin: kubernetesOrigin(client, { cluster }),
          ...told,
          troubled: (reason) => report.troubled(context, reason),
        }),
    };
  });
}

/**
 * Follows clusters, each into its source.
 *
 * @param changed is called after every push from then on
 * @param stopped resolves when nobody wants to wait any longer
 * @returns when each of them was read as a whole; undefined when that was not waited for
 */
export async function followClusters(
  clusters: readonly DevCluster[],
  store: ObjectStore,
  report: Pick<DevReport, "troubled" | "failed">,
  changed: () => void,
  stopped: Promise<unknown>,
): Promise<{ close(): Promise<void> } | undefined> {
  const stop = new AbortController();
  /** A world without one of its clusters is not published. */
  let isWhole = false;
  const pushed = () => {
    if (isWhole) changed();
  };
  const running: Promise<void>[] = [];
  const filled = clusters.map(
    (cluster) =>
      new Promise<void>((filled) => {
        const collector = cluster.collector(store, report, { pushed, filled });
        running.push(collector.run(stop.signal).catch(report.failed));
      }),
  );
  const close = async () => {
    stop.abort();
    await Promise.all(running);
  };
  const end = await Promise.race([Promise.all(filled).then(() => "filled" as const), stopped.then(() => "stopped")]);
  if (end !== "filled") {
    await close();
    return undefined;
  }
  isWhole = true;
  return { close };
}
