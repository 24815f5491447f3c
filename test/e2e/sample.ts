import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bootstrapFor, proxiesIn } from "../../lib/cli/bootstrap.ts";
import { readFiles, type SourceFile } from "../../lib/config/directory.ts";
import { readFolder } from "../../lib/config/folder.ts";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import { startDev } from "./dev-process.ts";
import { eventually, startEnvoy } from "./envoy.ts";
import { startUpstream } from "./upstream.ts";

/** A sample with all that it needs: its servers, Portolan, and an Envoy for each of its gateways. */
export interface RunningSample {
  /** URL of the front. */
  readonly url: string;
  readonly servers: readonly Server[];
  readonly gateways: readonly string[];
  close(): Promise<void>;
}

/** Something that a sample's proxies send requests to. */
interface Server {
  /** Of the pod or the entry; it is what the server answers. */
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/**
 * Starts a sample. Its pods have loopback addresses, so that all of it fits one machine.
 *
 * @throws when a port is taken or an Envoy does not start, with nothing left running
 */
export async function startSample(folder: string): Promise<RunningSample> {
  const files = await readFolder(folder);
  const gateways = proxiesIn(files).filter(({ proxy }) => proxy.type === "router");
  const gatewayNames = new Set(gateways.map(({ proxy }) => proxy.id.split(".")[0]));
  const servers = serversOf(files).filter(({ name }) => !gatewayNames.has(name));
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    for (const { name, port, address } of servers) closing.push((await startUpstream(name, port, address)).close);
    const dev = await startDev(folder);
    closing.push(dev.stop);
    for (const gateway of gateways) {
      const envoy = await startEnvoy(bootstrapFor(gateway, dev.url, 0));
      closing.push(envoy.stop);
      await eventually(
        async () => Number(await envoy.stat("listener_manager.total_listeners_active")),
        (count) => count > 0,
        20_000,
      );
    }
    return { url: dev.url, servers, gateways: gateways.map(({ proxy }) => proxy.id), close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** Every endpoint on loopback, once. */
function serversOf(files: readonly SourceFile[]): readonly Server[] {
  const { configs, objects, meshConfig, meshNetworks, clusters } = readFiles(files);
  const registry = buildRegistry({
    clusters: [{ id: "Kubernetes", objects }, ...clusters],
    configs,
    meshConfig,
    meshNetworks,
    domain: "cluster.local",
  }).value;
  const servers = new Map<string, Server>();
  for (const [key, endpoints] of registry.endpoints) {
    // An endpoint of a ServiceEntry's own has no name but its host's.
    const [, host = ""] = key.split("/");
    for (const { addresses, port, workloadName } of endpoints) {
      const name = workloadName || (host.split(".")[0] ?? "");
      for (const address of addresses) servers.set(`${address}:${port}`, { name, address, port });
    }
  }
  return [...servers.values()].filter(({ address }) => address.startsWith("127."));
}

/** The commands that a sample's page shows. */
export async function commandsOf(folder: string): Promise<readonly string[]> {
  const page = await readFile(join(folder, "README.md"), "utf8");
  const [, block = ""] = /```console\n([^`]*)```/.exec(page) ?? [];
  return block.trim().split("\n");
}
