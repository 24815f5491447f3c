import { PortolanError } from "../../base/diagnostic.ts";
import { textWithin } from "../bounded-text.ts";

/** How to ask one Consul agent or server. Nothing here needs Node: `fetch` brings trust and certificates for TLS. */
export interface ConsulClient {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Without final slash. */
  readonly baseUrl: string;
  /** ACL token, asked for again with every request, because tokens rotate; absent: none is sent. */
  readonly token?: () => Promise<string>;
  /** Absent: the agent's own datacentre. */
  readonly datacenter?: string;
  /** Milliseconds that an answer may take beside what a blocking query may wait; 30 s when absent. */
  readonly timeoutMs?: number;
}

export interface ConsulAnswer {
  /** JSON. */
  readonly text: string;
  /** 0 where Consul gives none; to be asked for again from there. */
  readonly index: number;
  /** Consul shows nothing but what a token may read. To who has none it does not say that it left anything out. */
  readonly isGuarded: boolean;
}

/** What a blocking query waits for: a change after the index, or the end of the time. */
export interface Blocking {
  readonly index: number;
  readonly waitMs: number;
}

const usualTimeoutMs = 30_000;
/** A catalogue of some hundred thousand instances. */
const mostBytes = 64 * 2 ** 20;

/**
 * Asks once.
 *
 * @param blocking absent: answered at once
 * @throws PortolanError for an answer that is no success, is too long, or is not known to be all there is; whatever `fetch`
 *   throws, an `AbortError` included
 */
export async function askConsul(
  client: ConsulClient,
  path: string,
  signal: AbortSignal,
  blocking?: Blocking,
): Promise<ConsulAnswer> {
  const query = new URLSearchParams({
    ...(client.datacenter === undefined ? {} : { dc: client.datacenter }),
    ...(blocking === undefined ? {} : { index: String(blocking.index), wait: `${blocking.waitMs}ms` }),
  });
  const token = await client.token?.();
  // Consul itself adds up to a sixteenth, so that not all queries end at once.
  const patienceMs = (client.timeoutMs ?? usualTimeoutMs) + (blocking === undefined ? 0 : blocking.waitMs * 1.0625);
  const late = AbortSignal.timeout(Math.ceil(patienceMs));
  const sent = {
    headers: { accept: "application/json", ...(token === undefined ? {} : { "x-consul-token": token }) },
    signal: AbortSignal.any([signal, late]),
  };
  const fetching = client.fetch(`${client.baseUrl}${path}${query.size === 0 ? "" : `?${query}`}`, sent);
  const { response, text } = await fetching
    .then(async (response) => ({ response, text: await textWithin(response, mostBytes, "an answer of Consul") }))
    .catch((cause: unknown) => {
      if (!late.aborted) throw cause;
      throw new PortolanError(`Consul did not answer ${path} within ${Math.ceil(patienceMs / 1000)} s`, [], cause);
    });
  if (!response.ok)
    throw new PortolanError(`Consul answered ${path} with ${response.status}: ${text.trim().slice(0, 500)}`);
  // Without a leader an empty catalogue means that nobody knows, not that there is nothing.
  if (response.headers.get("x-consul-knownleader") === "false") throw new PortolanError("Consul has no leader");
  if (response.headers.get("x-consul-results-filtered-by-acls") === "true") throw mayNotRead(path);
  return {
    text,
    index: Number(response.headers.get("x-consul-index") ?? 0),
    isGuarded: response.headers.get("x-consul-default-acl-policy") === "deny",
  };
}

export function mayNotRead(path: string): PortolanError {
  const hint = 'give a token with policy "read" for service_prefix "" and node_prefix ""';
  return new PortolanError(`Consul left out of ${path} what the token may not read; ${hint}`);
}
