import { PortolanError } from "../../base/diagnostic.ts";
import type { SourceSnapshot } from "../source.ts";
import { askConsul, type ConsulClient, mayNotRead } from "./agent.ts";
import { type ConsulInstance, readCatalogService, readCatalogServices, readHealthService } from "./catalog.ts";

/** Whether instances with a check that does not pass count; Istio never asked (`any`). */
export type ConsulHealth = "passing" | "any";

/** Queries under way at once; an agent takes 200 connections of one client, of which others want some too. */
const width = 16;
const ownService = "consul";

/** What was read of services before: the text of an answer, and what it says. */
export type ReadBefore = Map<string, { readonly text: string; readonly instances: readonly ConsulInstance[] }>;

/**
 * Reads the instances of all services, Consul's own included.
 *
 * @param before of which what is the same again keeps its identity; it is brought up to date
 * @throws PortolanError when any of them could not be read
 */
export async function readConsul(
  client: ConsulClient,
  health: ConsulHealth,
  signal: AbortSignal,
  before: ReadBefore = new Map(),
): Promise<SourceSnapshot<readonly ConsulInstance[]>> {
  try {
    const catalog = await askConsul(client, "/v1/catalog/services", signal);
    const names = readCatalogServices(JSON.parse(catalog.text));
    const lists: (readonly ConsulInstance[])[] = names.map(() => []);
    const left = new AbortController();
    const until = AbortSignal.any([signal, left.signal]);
    const queue = names.entries();
    const readQueue = async () => {
      // A service that went between the two calls is answered with no instances, and so is none.
      for (const [at, name] of queue) lists[at] = await instancesOf(client, name, health, until, before);
    };
    try {
      await Promise.all(Array.from({ length: Math.min(width, names.length) }, readQueue));
    } finally {
      // One that failed ends the others.
      left.abort();
    }
    const known = new Set(names);
    for (const name of before.keys()) if (!known.has(name)) before.delete(name);
    // Consul's own service is in every catalogue that one may read.
    const own = lists[names.indexOf(ownService)] ?? [];
    if (catalog.isGuarded && own.length === 0) throw mayNotRead("/v1/catalog/services");
    return { content: lists.flat(), version: String(catalog.index) };
  } catch (cause) {
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError(`the catalogue of Consul could not be read: ${reasonOf(cause)}`, [], cause);
  }
}

/** What an error says, with the reason that `fetch` hides in its cause. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message;
}

async function instancesOf(
  client: ConsulClient,
  name: string,
  health: ConsulHealth,
  signal: AbortSignal,
  before: ReadBefore,
): Promise<readonly ConsulInstance[]> {
  const kind = health === "any" ? "catalog" : "health";
  const { text } = await askConsul(client, `/v1/${kind}/service/${encodeURIComponent(name)}`, signal);
  const known = before.get(name);
  if (known?.text === text) return known.instances;
  const body: unknown = JSON.parse(text);
  const instances =
    health === "any" ? readCatalogService(body) : readHealthService(body).filter(({ passing }) => passing);
  before.set(name, { text, instances });
  return instances;
}
