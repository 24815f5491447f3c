import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BootstrapExtras } from "../../lib/agent/bootstrap-extras.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import type { Sidecar } from "../../lib/config/kinds/sidecar.ts";
import type { WorkloadProxy } from "../../lib/mesh/proxy/proxy-of-workload.ts";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import { createAuthority, issueIdentity } from "./certificates.ts";
import { startDev } from "./dev-process.ts";
import { eventually, type RunningEnvoy, startEnvoy } from "./envoy.ts";
import { startIdentityAgent } from "./identity-agent.ts";
import { claimPlaces } from "./sample-claims.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/**
 * A sample with all that it needs: its servers, Portolan, and an Envoy for each of its gateways and for each sidecar that a Sidecar
 * gives a listener of its own; with certificates where a PeerAuthentication asks for them, and in plain text elsewhere.
 */
export interface RunningSample {
  /** URL of the front. */
  readonly url: string;
  readonly servers: readonly Server[];
  /** `pod.namespace` of those with an Envoy. */
  readonly proxies: readonly string[];
  /** The Envoys of these, in their order. */
  readonly envoys: readonly RunningEnvoy[];
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
 * @param options.extras of the bootstraps of its Envoys
 * @param options.onEvent is told what `dev` prints
 * @throws when an address is taken or an Envoy does not start, with what to do and nothing left running
 */
export async function startSample(
  folder: string,
  {
    extras = {},
    onEvent = () => {},
  }: {
    readonly extras?: BootstrapExtras;
    readonly onEvent?: (event: Readonly<Record<string, unknown>>) => void;
  } = {},
): Promise<RunningSample> {
  const files = await readFolder(folder);
  const all = proxiesIn(files);
  const inFront = serversBehind(files, all);
  const proxies = all.filter(({ proxy }) => proxy.type === "router" || inFront.has(nameOf(proxy.id)));
  const isProxied = new Set(proxies.map(({ proxy }) => nameOf(proxy.id)));
  const servers = [...serversOf(files).filter(({ name }) => !isProxied.has(name)), ...inFront.values()];
  const { configs, meshConfig } = readFiles(files);
  const isMutual = configs.some(({ meta }) => meta.kind === "PeerAuthentication");
  const certificates = isMutual ? "sds" : "none";
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    const scratch = await mkdtemp(join(tmpdir(), "portolan-"));
    closing.push(() => rm(scratch, { recursive: true, force: true }));
    const gateways = configs.filter(({ meta }) => meta.kind === "Gateway");
    const gatewayPlaces = gateways.flatMap(({ spec }) => portsOf(spec)).map((port) => `0.0.0.0:${port}`);
    closing.push(
      await claimPlaces(basename(folder), [
        ...servers.map(({ address, port }) => `${address}:${port}`),
        ...gatewayPlaces,
      ]),
    );
    for (const server of servers) closing.push((await startServer(server)).close);
    const dev = await startDev(folder, ["--certificates", certificates], onEvent);
    closing.push(dev.stop);
    const authority = isMutual ? createAuthority(join(scratch, "ca")) : undefined;
    const envoys: RunningEnvoy[] = [];
    for (const found of proxies) {
      const directory = join(scratch, found.proxy.id);
      await mkdir(directory);
      if (authority !== undefined) {
        const { namespace, serviceAccount } = found.proxy;
        const id = `spiffe://${meshConfig.trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
        const identity = issueIdentity(authority, id);
        closing.push((await startIdentityAgent(directory, identity)).stop);
      }
      const envoy = await startEnvoy(bootstrapFor(found, dev.url, 0, { certificates, extras }), directory);
      envoys.push(envoy);
      closing.push(envoy.stop);
      await listens(envoy);
    }
    return { url: dev.url, servers, proxies: proxies.map(({ proxy }) => proxy.id), envoys, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** Of a Gateway, as far as it says them. */
function portsOf(spec: unknown): readonly number[] {
  const { servers = [] }: { readonly servers?: readonly { readonly port?: { readonly number?: number } }[] } =
    Object(spec);
  return servers.flatMap(({ port }) => port?.number ?? []);
}

function startServer({ name, port, address }: Server): Promise<Upstream> {
  return startUpstream(name, port, address).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "EADDRINUSE") throw new Error(taken(`${address}:${port}`), { cause });
    if (cause.code !== "EADDRNOTAVAIL") throw cause;
    const alias =
      process.platform === "darwin" ? `sudo ifconfig lo0 alias ${address} up` : `ip addr add ${address} dev lo`;
    throw new Error(`this machine has no address ${address}: \`${alias}\` gives it one`, { cause });
  });
}

const taken = (where: string): string =>
  `${where} is taken, by another sample perhaps: stop what listens there, and try again`;

/** Waits until an Envoy takes connections. @throws at once when another process has its port */
async function listens(envoy: RunningEnvoy): Promise<void> {
  const refused = () => /cannot bind '([^']+)': Address already in use/.exec(envoy.log())?.[1];
  await eventually(
    async () => Number(await envoy.stat("listener_manager.total_listeners_active")),
    (count) => count > 0 || refused() !== undefined,
    20_000,
  );
  const where = refused();
  if (where !== undefined) throw new Error(taken(where));
}

/** Of pods whose Sidecar has a listener lead to a port of their own address, by pod: what listens there. */
function serversBehind(files: readonly SourceFile[], proxies: readonly WorkloadProxy[]): ReadonlyMap<string, Server> {
  const { configs } = readFiles(files);
  const sidecars = configs.filter(({ meta }) => meta.kind === "Sidecar");
  const listeners = sidecars.flatMap(({ spec }) => {
    const { ingress = [] }: Pick<Sidecar, "ingress"> = Object(spec);
    return ingress;
  });
  return new Map(
    proxies.flatMap(({ proxy }) =>
      listeners.flatMap(({ bind = "", defaultEndpoint = "" }): readonly (readonly [string, Server])[] => {
        const [, port] = /^0\.0\.0\.0:(\d+)$/.exec(defaultEndpoint) ?? [];
        if (port === undefined || !proxy.addresses.includes(bind)) return [];
        const name = nameOf(proxy.id);
        return [[name, { name, address: bind, port: Number(port) }]];
      }),
    ),
  );
}

const nameOf = (id: string): string => id.split(".")[0] ?? "";

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
