import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFields } from "../../lib/base/untyped.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { freePort } from "../free-port.ts";
import { type RunningEnvoy, startEnvoy } from "./envoy.ts";
import type { PublicAddress } from "./platform.ts";
import { startUpstream } from "./upstream.ts";

const sample = new URL("../../samples/bookshop", import.meta.url).pathname;

/** A copy of samples/bookshop on ports that are free, with its three servers running. */
export interface Bookshop {
  readonly folder: string;
  /** Port of the gateway. */
  readonly port: number;
  /** Port of its servers. */
  readonly appPort: number;
  /** Rewrites a file of the folder, as an editor that saves in place. */
  edit(file: string, change: (text: string) => string): Promise<void>;
  /** Writes a file besides. */
  add(file: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** Who answers for each pod of the sample. */
const servers = [
  { name: "catalog-v1", address: "127.0.0.11" },
  { name: "catalog-v2", address: "127.0.0.12" },
  { name: "reviews-v1", address: "127.0.0.13" },
];
export const serverNames = servers.map(({ name }) => name);
export const shopHost = "shop.example.com";

export async function openBookshop(): Promise<Bookshop> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-bookshop-"));
  await cp(sample, folder, { recursive: true });
  const port = await freePort();
  const appPort = await freePort();
  const edit = async (file: string, change: (text: string) => string) => {
    const path = join(folder, file);
    await writeFile(path, change(await readFile(path, "utf8")));
  };
  for (const file of await readdir(folder)) {
    await edit(file, (text) => text.replaceAll("10080", String(port)).replaceAll("9080", String(appPort)));
  }
  const running = await Promise.all(servers.map(({ name, address }) => startUpstream(name, appPort, address)));
  return {
    folder,
    port,
    appPort,
    edit,
    add: (file, text) => writeFile(join(folder, file), text),
    async close() {
      await Promise.all(running.map((server) => server.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The weights of the catalog's two versions, as the sample writes them. */
export const withWeights = (v1: number, v2: number) => (text: string) => {
  const weights = [v1, v2].values();
  return text.replaceAll(/weight: \d+/g, () => `weight: ${weights.next().value}`);
};

/** The bookshop's ingress gateway, as its bootstrap is made for it. */
export async function gatewayOfShop() {
  const gateway = proxiesIn(await readFolder(sample)).find(({ proxy }) => proxy.type === "router");
  if (gateway === undefined) throw new Error("the bookshop has a gateway");
  return gateway;
}

/**
 * An Envoy as the bookshop's ingress gateway, with the bootstrap that is printed for its pod.
 *
 * @param labels that its pod has besides
 */
export async function startGateway(
  front: string | PublicAddress,
  options: Parameters<typeof bootstrapFor>[3] = {},
  labels: Readonly<Record<string, string>> = {},
): Promise<RunningEnvoy> {
  const gateway = await gatewayOfShop();
  const { node } = gateway;
  const { LABELS: own } = node.metadata;
  const metadata = { ...node.metadata, LABELS: { ...(isFields(own) ? own : {}), ...labels } };
  const access = typeof front === "string" ? { url: front } : { url: front.url, tls: { caFile: front.caFile } };
  return startEnvoy(
    bootstrapFor({ ...gateway, node: { ...node, metadata } }, access.url, 0, { ...access, ...options }),
  );
}

/** Counters that must be 0 in an Envoy that was never told anything wrong, with what they are. */
export async function rejections(envoy: Pick<RunningEnvoy, "admin">): Promise<readonly string[]> {
  const { stats }: { readonly stats: readonly { readonly name?: string; readonly value?: number }[] } = JSON.parse(
    await envoy.admin("/stats?format=json&filter=update_rejected"),
  );
  return stats.flatMap(({ name, value }) => (value === 0 || name === undefined ? [] : [`${name}: ${value}`]));
}
