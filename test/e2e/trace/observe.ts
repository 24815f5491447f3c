import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";
import type { TracedRequest } from "../../../lib/trace/traced-request.ts";
import { freePort } from "../../free-port.ts";
import { startEnvoy } from "../envoy.ts";
import { issueCertificates, type TokenSigner } from "./identities.ts";
import { instrumented } from "./instrument.ts";
import { send } from "./send.ts";

/** What a real Envoy did with a request, as its logs tell. */
export interface Observed {
  readonly listener?: string;
  /** Index of the filter chain, or `default`. */
  readonly chain?: string;
  readonly at?: { readonly table: string; readonly host: string; readonly route: number };
  readonly cluster?: string;
  readonly host?: string;
  /** Of the answer; `tcp` where none is given. */
  readonly status?: number | "tcp";
  /** Why Envoy closed a connection. */
  readonly ended?: string;
  readonly location?: string;
  readonly path?: string;
  readonly authority?: string;
}

/**
 * Starts a real Envoy with resources whose endpoints are on loopback addresses, sends it requests, and reads its logs.
 *
 * @param signer of the tokens whose claims requests have
 * @returns what became of each, in their order
 */
export async function observe(
  resources: NodeResources,
  requests: readonly TracedRequest[],
  signer: TokenSigner,
): Promise<readonly Observed[]> {
  const directory = await mkdtemp(join(tmpdir(), "portolan-trace-"));
  const logFile = join(directory, "log");
  const names = requests.flatMap(({ tls }) => (tls?.hasCertificate === true ? (tls.identity ?? []) : []));
  const certificates = await issueCertificates(directory, names);
  const bound = resources.listeners.filter(({ bindToPort }) => bindToPort !== false);
  const ports = new Map<string, number>();
  for (const { name = "" } of bound) ports.set(name, await freePort());
  const bootstrap = {
    admin: { address: { socketAddress: { address: "127.0.0.1", portValue: 0 } } },
    staticResources: instrumented(resources, { logFile, ports, certificates }),
  };
  const envoy = await startEnvoy(bootstrap);
  try {
    const waiting = requests.entries();
    const lane = async () => {
      for (const [at, request] of waiting) {
        const port = ports.get(entryOf(bound, request));
        if (port !== undefined) await send(request, { port, localAddress: ownAddress(at), certificates, signer });
      }
    };
    await Promise.all(Array.from({ length: 16 }, lane));
  } finally {
    // Its end writes what is left of the log.
    await envoy.stop();
  }
  const lines = (await readFile(logFile, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  await rm(directory, { recursive: true, force: true });
  const bySource = new Map<string, Observed>();
  for (const line of lines) {
    const { from, ...seen }: { readonly from: string } & Observed = JSON.parse(line);
    const [address = ""] = from.split(":");
    bySource.set(address, { ...bySource.get(address), ...seen });
  }
  return requests.map((_, at) => bySource.get(ownAddress(at)) ?? {});
}

/** A loopback address for each request. */
const ownAddress = (at: number): string => `127.78.${Math.floor(at / 250)}.${(at % 250) + 1}`;

/** Where iptables, or the kernel, leads a connection. */
function entryOf(bound: readonly ListenerJson[], { direction, destination }: TracedRequest): string {
  const name = direction === "outbound" ? "virtualOutbound" : "virtualInbound";
  if (bound.some((one) => one.name === name)) return name;
  return bound.find(({ address }) => address?.socketAddress?.portValue === destination.port)?.name ?? "";
}

/** A server on all loopback addresses that says little. */
export async function startEverywhere(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((_request, response) => response.end("here"));
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: address.port, close };
}
