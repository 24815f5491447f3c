import { join, resolve } from "node:path";
import { readTrusted } from "../snapshot/head/signing-keys.ts";
import { type Agent, createAgent } from "./agent.ts";
import { readBootstrap } from "./bootstrap-file.ts";
import { type AgentDns, type DnsSettings, startDns } from "./dns/agent-dns.ts";
import { refuseOwnedArguments } from "./envoy/envoy-arguments.ts";
import { bootstrapName } from "./envoy/envoy-keeper.ts";
import { fetchOnce } from "./fetch-once.ts";
import { lockFolder, socketIn } from "./files/folder-lock.ts";
import { replaceFile } from "./files/replace-file.ts";
import { type IdentitySource, type IdentityState, keepIdentity } from "./identity/identity-files.ts";
import { folderSource } from "./source/folder-source.ts";
import { createFrontClient, type FrontAddress, type FrontClient } from "./source/front-client.ts";
import { frontSource } from "./source/front-source.ts";
import { createGenerationKeeper } from "./source/generation.ts";
import type { AgentNode } from "./source/node.ts";
import { heldTypes } from "./source/resources.ts";
import { againstSignedHead } from "./source/signed-head.ts";
import type { Source } from "./source/source.ts";
import { agentMetrics } from "./status/agent-metrics.ts";
import { type StatusAddress, type StatusSource, serveStatus } from "./status/status-server.ts";
import { createLocalCalls } from "./xds/local-calls.ts";
import { createLocalState } from "./xds/local-host.ts";

/** What `portolan agent` was told. */
export interface AgentSettings {
  /** Folder of the agent: Envoy's files, its bootstrap and log. */
  readonly dir: string;
  /** In JSON. */
  readonly bootstrap: string;
  readonly from: { readonly front: FrontAddress } | { readonly snapshot: string };
  /** Text of the keys of which one must have signed HEAD, as `portolan keys list --public` prints them. */
  readonly trustedKeys: string | undefined;
  readonly holdMs: number;
  /** Where the workload's certificate comes from; undefined: Envoy asks whoever the resources name. */
  readonly identity: IdentitySource | undefined;
  /** Writes the files and ends, without an Envoy. */
  readonly once: boolean;
  readonly envoy: string;
  readonly envoyArgs: readonly string[];
  readonly drainMs: number;
  readonly untilIdle: boolean;
  readonly maxRestarts: number | undefined;
  /** Where to tell how agent and Envoy are; undefined: nowhere. */
  readonly status: StatusAddress | undefined;
  /** Where to answer DNS from the names of the mesh; undefined: nowhere. */
  readonly dns: DnsSettings | undefined;
  /** One line for people. */
  readonly say: (line: string) => void;
  /** A line of Envoy's log. */
  readonly onLine: (line: string) => void;
}

/**
 * Works until SIGTERM or SIGINT.
 *
 * @returns the exit code
 * @throws PortolanError for settings that cannot work, and when no Envoy can be started
 */
export async function runAgent(settings: AgentSettings): Promise<number> {
  const { say, from } = settings;
  const folder = resolve(settings.dir);
  refuseOwnedArguments(settings.envoyArgs);
  const unlock = await lockFolder(folder, say);
  try {
    const socket = socketIn(folder);
    const bootstrap = await readBootstrap(settings.bootstrap, socket);
    await replaceFile(join(folder, bootstrapName), bootstrap.text);
    const { identity } = settings;
    const state = createLocalState();
    const take = settings.once ? undefined : state.secrets;
    let certificate: IdentityState | undefined;
    const onState = (state: IdentityState) => {
      certificate = state;
    };
    const endIdentity = identity && (await keepIdentity({ source: identity, folder, say, take, onState }));
    const upstream = "front" in from ? { client: createFrontClient(from.front) } : from;
    const source = await sourceFor(settings, folder, bootstrap.node, upstream);
    if (settings.once) {
      await fetchOnce(source, { folder, hasCertificateFiles: identity !== undefined });
      endIdentity?.();
      say(`${folder} has what is there for ${bootstrap.node.id}`);
      return 0;
    }
    const dns = settings.dns && (await startDns(settings.dns, { folder, node: bootstrap.node, say }));
    if (dns !== undefined) say(`answers DNS on port ${dns.port}`);
    const agent = createAgent({
      ...settings,
      onNames: dns?.take,
      folder,
      args: settings.envoyArgs,
      source,
      isGateway: bootstrap.isGateway,
      hasCertificates: identity !== undefined,
      state,
      socket,
      calls: "client" in upstream ? createLocalCalls(upstream.client, folder) : undefined,
    });
    const status =
      settings.status &&
      (await serveStatus(
        settings.status,
        statusOf(agent, dns, () => certificate),
      ));
    if (status !== undefined) say(`serves its status on port ${status.port}`);
    const stop = () => agent.stop();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    say(`follows ${"front" in from ? from.front.url : from.snapshot} for ${bootstrap.node.id}, in ${folder}`);
    try {
      return await agent.run();
    } finally {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
      status?.close();
      dns?.close();
      endIdentity?.();
    }
  } finally {
    await unlock();
  }
}

function statusOf(agent: Agent, dns: AgentDns | undefined, certificate: () => IdentityState | undefined): StatusSource {
  return {
    missing: async () => (await agent.missing()) ?? dns?.missing(),
    metrics(statusErrors) {
      const { user, system } = process.cpuUsage();
      return agentMetrics(
        agent.status(),
        { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1_000_000 },
        { dns: dns?.errors() ?? 0, status: statusErrors, xds: agent.socketErrors() },
        certificate(),
      );
    },
    envoyMetrics: agent.envoyMetrics,
  };
}

async function sourceFor(
  { trustedKeys, holdMs, dns, once }: AgentSettings,
  folder: string,
  node: AgentNode,
  upstream: { readonly client: FrontClient } | { readonly snapshot: string },
): Promise<Source> {
  const { trusted } = readTrusted(trustedKeys, "--trusted-keys");
  const generation = await createGenerationKeeper(folder, trusted !== undefined);
  const types = heldTypes(dns !== undefined && !once);
  if ("snapshot" in upstream) return folderSource({ folder: upstream.snapshot, node, trusted, generation, types });
  const { client } = upstream;
  const verify = trusted && againstSignedHead({ client, node, trusted, generation, types });
  return frontSource({ client, node, holdMs, types, verify });
}
